import type { JsonSchemaType } from '@modelcontextprotocol/server'

import { string } from './mcp-tool.ts'
import type { Tool } from './mcp-tool.ts'
import { defined } from './parts.ts'

/** Members of both tools that are about a workflow. */
const OF_WORKFLOW = {
  file: string('Workflow in the folder of this server: JSON, PNG, JPEG, WebP or MP4.'),
  host_version: string('Version of the host that the packs must fit.'),
} satisfies Record<string, JsonSchemaType>

const versions = (description: string): JsonSchemaType => ({
  type: 'object',
  additionalProperties: { type: 'string' },
  description: `${description}, by the id of the pack.`,
})

/** Tools that are about a saved workflow. */
export const WORKFLOW_READERS: Record<string, Tool> = {
  resolve_workflow: {
    title: 'Find the packs that a workflow needs',
    description:
      'Says of a saved workflow of the host which packs have its nodes, in which versions they fit together, and which nodes are unknown.',
    members: { ...OF_WORKFLOW, installed: versions('Versions that are installed') },
    required: ['file'],
    rest: '`kiln workflow` prints all.',
    run: async ({ kiln, given, readWorkflow, signal }) => {
      const { file = '', installed, host_version } = given
      const body = { workflow: await readWorkflow(file), ...defined({ installed, host_version }) }
      const { host_nodes, ...found } = await kiln.registry.resolveWorkflow(body, { signal })
      const unknown = host_nodes.filter(({ origin }) => origin === 'unknown')
      return { ...found, unknown_host_nodes: unknown }
    },
  },
  check_workflow: {
    title: 'Say what updates of packs do to a workflow',
    description:
      'Compares, for a saved workflow of the host, versions of its packs, and says which of its nodes break, and which newest versions break nothing.',
    members: {
      ...OF_WORKFLOW,
      from: versions('Versions with which it works, else those it was saved with'),
      to: versions('Versions to compare with, else the newest that fit'),
    },
    required: ['file'],
    rest: '`kiln workflow` prints all.',
    run: async ({ kiln, given, readWorkflow, signal }) => {
      const { file = '', from, to, host_version } = given
      const body = { workflow: await readWorkflow(file), ...defined({ from, to, host_version }) }
      return await kiln.registry.checkWorkflow(body, { signal })
    },
  },
}
