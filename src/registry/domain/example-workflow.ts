import { Type, type Static } from 'typebox'

import { HOST_NODE_NAME_MAX } from './host-node.ts'
import { count, queryText } from '../../platform/domain/schema-fields.ts'

/** Query of GET /nodes/{n}/versions/{v}/example-workflows. */
export const ExampleWorkflowQuery = Type.Object({
  host_node: Type.Optional(
    queryText(HOST_NODE_NAME_MAX, 'Only those that use this host node, by its exact name.'),
  ),
})
export type ExampleWorkflowQuery = Static<typeof ExampleWorkflowQuery>

const names = (description: string) => Type.Array(Type.String(), { description })

export const ExampleWorkflow = Type.Object({
  path: Type.String({ description: 'Path in the archive: `files/content` has it.' }),
  bytes: count('Bytes, unpacked.'),
  form: Type.Enum(['editor', 'api'], { description: 'The form in which it was saved.' }),
  nodes: count('Host nodes in it, those of the editor alone aside.'),
  packs: Type.Array(
    Type.Object({
      node_id: Type.String({ description: 'Id of the pack.' }),
      host_nodes: names('Host nodes that are taken from it.'),
    }),
    { description: 'Packs that it needs, this one among them, by id.' },
  ),
  unknown_host_nodes: names('Host nodes that no pack here has.'),
})
export type ExampleWorkflow = Static<typeof ExampleWorkflow>

/** Its response. */
export const ExampleWorkflows = Type.Object({
  example_workflows: Type.Array(ExampleWorkflow, { description: 'By path.' }),
})
