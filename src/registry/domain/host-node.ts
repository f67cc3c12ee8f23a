import { Type, type Static } from 'typebox'

import { inAnyCase } from '../../platform/domain/address.ts'
import { LONG_TEXT_MAX, warnings, withoutReason } from './registry-fields.ts'
import {
  REASON_MAX,
  count,
  map,
  page,
  pageSize,
  queryText,
  text,
} from '../../platform/domain/schema-fields.ts'

export const HostNodePolicy = Type.Enum([
  'HostNodePolicyActive',
  'HostNodePolicyBanned',
  'HostNodePolicyLocalOnly',
])
export type HostNodePolicy = Static<typeof HostNodePolicy>

export const HOST_NODE_NAME_MAX = 512

/** Most host nodes that one version may register. */
const HOST_NODES_MAX = 5_000

/** Bytes of UTF-8 in each of the three members that hold JSON text. */
export const JSON_TEXT_MAX_BYTES = 1_048_576

const displayName = Type.Optional(
  text(HOST_NODE_NAME_MAX, 'What the host calls it, unless its name.'),
)
const category = Type.Optional(text(LONG_TEXT_MAX, 'Group in the host’s menu.'))
const description = Type.Optional(text(LONG_TEXT_MAX, 'What it does.'))
const entryPoint = Type.Optional(text(LONG_TEXT_MAX, 'Name of the function that the host calls.'))
const deprecated = Type.Boolean({ description: 'Whether the host hides it.' })
const experimental = Type.Boolean({ description: 'Whether it may change or go.' })
const outputNode = Type.Optional(
  Type.Boolean({
    description:
      'Whether the host runs it without anything behind it; absent where nothing said so: of a report, or an older reading.',
  }),
)
const outputIsList = Type.Array(Type.Boolean(), {
  description: 'For each output, whether it is a list.',
})

const JSON_TEXTS = {
  input_types: 'Its inputs, as JSON text.',
  return_types: 'The types of its outputs, as JSON text.',
  return_names: 'The names of its outputs, as JSON text.',
} as const

/** Members that hold JSON text. */
export const JSON_TEXT_MEMBERS = ['input_types', 'return_types', 'return_names'] as const

const jsonTextShown = (name: keyof typeof JSON_TEXTS) =>
  Type.Optional(
    Type.String({ contentMediaType: 'application/json', description: JSON_TEXTS[name] }),
  )

const jsonTextGiven = (name: keyof typeof JSON_TEXTS) =>
  Type.Optional(
    Type.Unknown({
      description: `${JSON_TEXTS[name]} A string is taken as that text; any other value is serialised. At most 1 MiB.`,
    }),
  )

const policyReason = Type.Optional(text(REASON_MAX, 'Why it has this policy.'))

/** A host node, as every route returns it. A member without a value is absent, never null. */
export const HostNode = Type.Object({
  host_node_name: Type.String({
    minLength: 1,
    maxLength: HOST_NODE_NAME_MAX,
    description: 'Name of the class, exactly as registered; unique in the version.',
  }),
  display_name: displayName,
  category,
  description,
  function: entryPoint,
  deprecated,
  experimental,
  output_node: outputNode,
  input_types: jsonTextShown('input_types'),
  return_types: jsonTextShown('return_types'),
  return_names: jsonTextShown('return_names'),
  output_is_list: outputIsList,
  dynamic: Type.Array(Type.String(), {
    description:
      'What depends on the user’s machine or could not be known: a member, `input_types.<input>` for one input, `host_node_name` where the machine decides whether it is there at all.',
  }),
  policy: HostNodePolicy,
  policy_reason: policyReason,
})
export type HostNode = Static<typeof HostNode>

/** A host node as its own route returns it. */
export const HostNodeWithExamples = Type.Object({
  ...HostNode.properties,
  example_workflows: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Example workflows of the version that use it, by their paths in the archive.',
    }),
  ),
})
export type HostNodeWithExamples = Static<typeof HostNodeWithExamples>

export const POLICIES_WITH_REASON: readonly HostNodePolicy[] = ['HostNodePolicyBanned']

/** Body of PUT /admin/nodes/{n}/host-nodes/{hostNodeName}. */
export const HostNodePolicyUpdate = Type.Object(
  {
    policy: HostNodePolicy,
    reason: Type.Optional(
      text(REASON_MAX, 'Why; required with the policy Banned, and shown to all.'),
    ),
  },
  { not: withoutReason('reason', POLICIES_WITH_REASON, 'policy') },
)
export type HostNodePolicyUpdate = Static<typeof HostNodePolicyUpdate>

/** Its response. */
export const NodeHostPolicy = Type.Object({
  node_id: Type.String({ description: 'Id of the pack.' }),
  host_node_name: Type.String({ description: 'Name of the host node.' }),
  policy: HostNodePolicy,
  policy_reason: policyReason,
  versions: count('Versions of the pack that have it now; the policy holds for later ones, too.'),
  warnings,
  other_node_ids: Type.Array(Type.String(), {
    description: 'Other packs that own the name or claim it, by id; at most 100.',
  }),
})
export type NodeHostPolicy = Static<typeof NodeHostPolicy>

/** One entry of `nodes` in a registration; its name is the key. */
export const RegisteredHostNode = Type.Object({
  display_name: displayName,
  category,
  description,
  function: entryPoint,
  deprecated: Type.Optional(deprecated),
  experimental: Type.Optional(experimental),
  output_node: outputNode,
  input_types: jsonTextGiven('input_types'),
  return_types: jsonTextGiven('return_types'),
  return_names: jsonTextGiven('return_names'),
  output_is_list: Type.Optional(outputIsList),
})
export type RegisteredHostNode = Static<typeof RegisteredHostNode>

const build = (description: string) => Type.Optional(text(REASON_MAX, description))

/** The build that a registration comes from: any of the four. */
export const CloudBuildInfo = Type.Object({
  build_id: build('Id of the build.'),
  location: build('Where it ran.'),
  project_id: build('Id of its project.'),
  project_number: build('Number of its project.'),
})
export type CloudBuildInfo = Static<typeof CloudBuildInfo>

const FAILED = `^${inAnyCase('failed')}$`

/** A success without nodes; in the document a member that is null counts as absent. */
const NOTHING_REGISTERED = {
  properties: { nodes: { type: 'null' } },
  anyOf: [
    { properties: { success: { const: true } }, required: ['success'] },
    {
      properties: {
        success: { type: 'null' },
        status: { not: { type: 'string', pattern: FAILED } },
      },
    },
  ],
}

/** Body of POST /nodes/{n}/versions/{v}/host-nodes. */
export const HostNodeRegistration = Type.Partial(
  Type.Object({
    success: Type.Boolean({
      description: 'Whether the nodes could be read; decides when it is given.',
    }),
    status: Type.String({
      description:
        'Decides when `success` is absent: `failed` in any case is a failure, all else a success.',
    }),
    nodes: map<RegisteredHostNode>(RegisteredHostNode, {
      maxProperties: HOST_NODES_MAX,
      propertyNames: { minLength: 1, maxLength: HOST_NODE_NAME_MAX },
      description: 'Host nodes by name; required for a success, `{}` for a pack without any.',
      'x-expectation': `an object of at most ${HOST_NODES_MAX} host nodes by name`,
    }),
    reason: text(REASON_MAX, 'Why it failed.'),
    cloud_build_info: CloudBuildInfo,
  }),
  { not: NOTHING_REGISTERED },
)
export type HostNodeRegistration = Static<typeof HostNodeRegistration>

/** Query of GET /nodes/{n}/versions/{v}/host-nodes. */
export const HostNodeListQuery = Type.Object({
  page: page(),
  limit: pageSize(10, 1_000),
  search: Type.Optional(
    queryText(200, 'A part of a name or category, or the beginning of a socket type, in any case.'),
  ),
  policy: Type.Optional(
    Type.Array(HostNodePolicy, { minItems: 1, description: 'Only host nodes of these policies.' }),
  ),
})
export type HostNodeListQuery = Static<typeof HostNodeListQuery>

export const HostNodePage = Type.Object({
  host_nodes: Type.Array(HostNode, { description: 'By name.' }),
  page: count('The page asked for.'),
  limit: count('Entries a page.'),
  total: count('Host nodes found.'),
  totalNumberOfPages: count('Pages that they fill.'),
})
export type HostNodePage = Static<typeof HostNodePage>
