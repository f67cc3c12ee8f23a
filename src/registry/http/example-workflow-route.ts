import { withinDeadline } from '../../platform/db/client.ts'
import { listExampleWorkflows, type StoredExample } from '../db/host-node.ts'
import { findNamesOf } from '../db/graph.ts'
import { EDITOR_NODES } from '../domain/graph/graph.ts'
import {
  ExampleWorkflowQuery,
  ExampleWorkflows,
  type ExampleWorkflow,
} from '../domain/example-workflow.ts'
import { defineRoute, ok } from '../../platform/http/route.ts'
import type { JsonResponse, Route, RouteRequest } from '../../platform/http/route.ts'
import { getVersionAccess } from './access.ts'
import type { ListDeps } from './deps.ts'
import { makeGraphReads } from './graph-reads.ts'
import { findOrigins } from './graph-resolve.ts'
import { OfVersion, VERSION_ERRORS, VERSION_PATH } from './paths.ts'

/** The route that lists the example workflows in the archive of a version. */
export const makeExampleWorkflowRoute = (deps: ListDeps): Route =>
  defineRoute({
    tag: 'Versions',
    auth: 'optional',
    method: 'get',
    path: `${VERSION_PATH}/example-workflows`,
    summary: 'List the example workflows of a version',
    description:
      'Workflows below `example_workflows`, `workflows` or `examples` in its archive, each with the packs that it needs. None until the archive was read.',
    params: OfVersion,
    query: ExampleWorkflowQuery,
    read: 'public',
    responses: ok('The workflows.', ExampleWorkflows),
    errors: [...VERSION_ERRORS, 'busy'],
    handler: (request) => listExamples(deps, request),
  })

const listExamples = async (
  deps: ListDeps,
  { params, query, caller }: RouteRequest<OfVersion, ExampleWorkflowQuery>,
): Promise<JsonResponse> => {
  const { id, node } = await getVersionAccess(deps, { ...params, access: 'read', caller })
  const example_workflows = await deps.heavyReadSemaphore.run(async () => {
    const asked = { versionId: id, hostNode: query.host_node }
    const examples = await withinDeadline(deps.sql, listExampleWorkflows(deps.sql, asked))
    return await resolveExamples(deps, { versionId: id, nodeId: node.id, examples })
  })
  return { status: 200, body: { example_workflows } }
}

interface OwnExamples {
  versionId: string
  nodeId: string
  examples: readonly StoredExample[]
}

/** A host node is taken from the pack whose example it is, where this version has it, or else as in any workflow. */
const resolveExamples = async (
  deps: ListDeps,
  { versionId, nodeId, examples }: OwnExamples,
): Promise<ExampleWorkflow[]> => {
  const packs = new Map<string, string | undefined>()
  for (const { name, pack } of examples.flatMap(({ host_nodes: used }) => used))
    if (!EDITOR_NODES.has(name)) packs.set(name, packs.get(name) ?? pack)
  const { sql } = deps
  const asked = [...packs.keys()].map((name) => ({ versionId, name }))
  const has = await withinDeadline(sql, findNamesOf(sql, asked))
  const own = new Set(has.get(versionId))
  const others = [...packs].flatMap(([name, pack]) => (own.has(name) ? [] : { name, pack }))
  const { found } = await findOrigins(makeGraphReads(deps), others, new Map())
  const origins = new Map(found.map(({ name, from }) => [name, from]))
  return examples.map(({ path, bytes, form, host_nodes }) => {
    const used = host_nodes.filter(({ name }) => packs.has(name))
    const needed = new Map<string, string[]>()
    for (const { name } of used) {
      const id = own.has(name) ? nodeId : origins.get(name)?.node_id
      if (id !== undefined) needed.set(id, [...(needed.get(id) ?? []), name])
    }
    return {
      path,
      bytes,
      form,
      nodes: used.reduce((sum, one) => sum + one.count, 0),
      packs: [...needed]
        .map(([node_id, host_nodes]) => ({ node_id, host_nodes }))
        .toSorted((a, b) => (a.node_id < b.node_id ? -1 : 1)),
      unknown_host_nodes: used
        .map(({ name }) => name)
        .filter((name) => origins.get(name)?.origin === 'unknown'),
    }
  })
}
