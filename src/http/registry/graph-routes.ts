import type { TObject } from 'typebox'

import { CheckRequest, WorkflowCheck } from '../../domain/graph/check.ts'
import type { Graph } from '../../domain/graph/graph.ts'
import { EXPECTED, readGraph } from '../../domain/graph/read-graph.ts'
import { ResolveRequest, WorkflowResolution } from '../../domain/graph/resolve.ts'
import { toJson } from '../../domain/graph/to-json.ts'
import { validateHostVersion } from '../../domain/registry/host-version.ts'
import { errors, shown } from '../../domain/shared/errors.ts'
import { makeSemaphore } from '../../domain/shared/semaphore.ts'
import { defineRoute } from '../route.ts'
import type { Route } from '../route.ts'
import type { ListDeps } from './deps.ts'
import { checkGraph } from './graph-check.ts'
import { resolveGraph } from './graph-resolve.ts'

/** The largest saved workflows with pictures inside have some megabytes. */
const BODY = {
  maxBytes: 4 * 2 ** 20,
  heldBytes: 4 * 2 ** 20,
  maxMembers: 400_000,
  deadlineMs: 15_000,
} as const

const COMMON = {
  tag: 'Workflows',
  auth: 'optional',
  method: 'post',
  readsOnly: true,
  quota: 'workflow',
} as const

const FORMS =
  'The workflow comes as the host’s editor saves it, with subgraphs and group nodes, or as it exports it for its API.'

/** The routes that say what a saved workflow needs, and what updates do to it. */
export const makeGraphRoutes = (deps: ListDeps): Route[] => [
  defineRoute({
    ...COMMON,
    path: '/workflows/resolve',
    summary: 'Find the packs that a workflow needs',
    description: `${FORMS} Each of its host nodes is part of the host, found in a pack, or unknown here; of several packs that have the name one is chosen, with the reason. The lock names the archives to install.`,
    body: body(ResolveRequest),
    responses: { 200: { description: 'What it needs.', schema: WorkflowResolution } },
    errors: ['busy'],
    validate: ({ body }) => validateHostVersion(body['host_version'], '/host_version'),
    handler: async ({ body: { workflow, ...asked } }) => ({
      status: 200,
      body: await graphReads.run(() => resolveGraph(deps, requireGraph(workflow), asked)),
    }),
  }),
  defineRoute({
    ...COMMON,
    path: '/workflows/check',
    summary: 'Say what updates of packs do to a workflow',
    description: `${FORMS} Compared are the versions in \`from\`, or those that it was saved with, with those in \`to\`, or the newest that fit. Only what this workflow feels is listed: a choice that is gone where it was chosen, an output that changed where it is linked.`,
    body: body(CheckRequest),
    responses: { 200: { description: 'What changes.', schema: WorkflowCheck } },
    errors: ['busy'],
    validate: ({ body }) => validateHostVersion(body['host_version'], '/host_version'),
    handler: async ({ body: { workflow, ...asked } }) => ({
      status: 200,
      body: await graphReads.run(() => checkGraph(deps, requireGraph(workflow), asked)),
    }),
  }),
]

const body = <Schema extends TObject>(schema: Schema) => ({
  ...BODY,
  schema,
  examples: { editor: { workflow: EXAMPLE } },
})

const EXAMPLE = {
  nodes: [
    {
      id: 7,
      type: 'BlurImage',
      widgets_values: [3],
      properties: { cnr_id: 'blur-tools', ver: '1.0.0' },
    },
  ],
  links: [],
}

/** A body of 4 MiB takes some 100 MB while it is read: a few at once in this process. */
const graphReads = makeSemaphore(2)

const requireGraph = (workflow: unknown): Graph => {
  const graph = readGraph(toJson(workflow))
  if (graph) return graph
  throw errors.validationFailed([`/workflow must be ${EXPECTED}, got ${shown(workflow)}`])
}
