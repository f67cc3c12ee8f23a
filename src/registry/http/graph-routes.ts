import type { IncomingHttpHeaders } from 'node:http'

import type { TObject } from 'typebox'

import { CheckRequest, WorkflowCheck } from '../domain/graph/check.ts'
import { ResolveRequest, WorkflowResolution } from '../domain/graph/resolve.ts'
import type { WorkflowModel } from '../domain/graph/models.ts'
import { validateHostVersion } from '../domain/host-version.ts'
import { defineRoute, ok } from '../../platform/http/route.ts'
import type { JsonResponse, Route } from '../../platform/http/route.ts'
import type { ListDeps } from './deps.ts'
import { makeAskGraph } from './graph-questions.ts'

/** The largest saved workflows with pictures inside have some megabytes. */
const BODY = {
  maxBytes: 4 * 2 ** 20,
  memoryBytes: 4 * 2 ** 20,
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

/** A workflow as text, and the size of the body: 0 of one that came in chunks. */
const show = (workflow: unknown, headers: IncomingHttpHeaders) => ({
  workflow: JSON.stringify(workflow) ?? 'null',
  bytes: Number(headers['content-length'] ?? 0),
})

interface GraphDeps extends ListDeps {
  /** Finds the instances that have models, by the files of those. */
  findModelInstances(
    models: readonly Pick<WorkflowModel, 'file' | 'folder'>[],
  ): Promise<ReadonlyMap<string, string[]>>
}

/** Adds the instances that have each model, which platform admins may see. */
const addInstances = async (
  { findModelInstances }: GraphDeps,
  { status, text = '' }: JsonResponse,
): Promise<JsonResponse> => {
  const found = JSON.parse(text) as WorkflowResolution
  const having = await findModelInstances(found.models)
  const models = found.models.map((model) => ({
    ...model,
    instances: having.get(model.file) ?? [],
  }))
  return { status, body: { ...found, models } }
}

/** The routes that say what a saved workflow needs, and what updates do to it. */
export const makeGraphRoutes = (deps: GraphDeps, ask = makeAskGraph(deps)): Route[] => [
  defineRoute({
    ...COMMON,
    path: '/workflows/resolve',
    summary: 'Find the packs that a workflow needs',
    description: `${FORMS} Each of its host nodes is part of the host, found in a pack, or unknown here; of several packs that have the name one is chosen, with the reason. The lock names the archives to install.`,
    body: body(ResolveRequest),
    responses: ok('What it needs.', WorkflowResolution),
    errors: ['busy', 'body_too_large'],
    validate: ({ body }) => validateHostVersion(body['host_version'], '/host_version'),
    handler: async ({ body: { workflow, ...asked }, headers, caller }) => {
      const found = await ask({ name: 'resolve', asked, ...show(workflow, headers) })
      return caller?.isPlatformAdmin ? await addInstances(deps, found) : found
    },
  }),
  defineRoute({
    ...COMMON,
    path: '/workflows/check',
    summary: 'Say what updates of packs do to a workflow',
    description: `${FORMS} Compared are the versions in \`from\`, or those that it was saved with, with those in \`to\`, or the newest that fit. Only what this workflow feels is listed: a choice that is gone where it was chosen, an output that changed where it is linked.`,
    body: body(CheckRequest),
    responses: ok('What changes.', WorkflowCheck),
    errors: ['busy', 'body_too_large'],
    validate: ({ body }) => validateHostVersion(body['host_version'], '/host_version'),
    handler: ({ body: { workflow, ...asked }, headers }) =>
      ask({ name: 'check', asked, ...show(workflow, headers) }),
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
