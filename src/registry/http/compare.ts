import { withinDeadline } from '../../platform/db/client.ts'
import { listDifferences, readPairs } from '../db/host-node-compare.ts'
import type { Difference } from '../db/host-node-compare.ts'
import type { CompareQuery, HostNodeChange } from '../domain/comparison/change.ts'
import {
  COMPARISON_VERSION,
  compareLone,
  ofHostNode,
  summarise,
} from '../domain/comparison/compare.ts'
import { compareHostNode } from '../domain/comparison/host-node.ts'
import type { JsonResponse, RouteRequest } from '../../platform/http/route.ts'
import { isKnown, quoteTag } from '../../platform/http/serve/etag.ts'
import { getVersionAccess } from './access.ts'
import type { ReadDeps } from '../../platform/http/deps.ts'
import type { ListDeps } from './deps.ts'
import type { OfNode } from './paths.ts'

type CompareRequest = RouteRequest<OfNode, CompareQuery>

/** Returns the differences between two versions of a node. */
export const compareVersions = async (
  deps: ListDeps,
  { params: { nodeId }, query, headers, caller }: CompareRequest,
): Promise<JsonResponse> => {
  const find = (version: string) =>
    getVersionAccess(deps, { nodeId, version, access: 'read', caller })
  const [from, to] = [await find(query.from), await find(query.to)]
  const etag = quoteTag(
    [COMPARISON_VERSION, from.node.revision, from.revision, to.revision].join('.'),
  )
  if (isKnown(headers['if-none-match'], etag)) return { status: 304, headers: { etag } }
  const isRead = from.isPartial !== null && to.isPartial !== null
  const isPartial = from.isPartial === true || to.isPartial === true
  const versions = { from: from.id, to: to.id }
  const changes = isRead
    ? await deps.heavyReadSemaphore.run(() => listChanges(deps, versions, isPartial))
    : []
  const found = summarise(changes, isPartial || changes.length >= MAX)
  const names = { node_id: from.node.id, from: from.version, to: to.version }
  const body = { ...names, ...found, ...(isRead ? {} : { verdict: 'none' }) }
  return { status: 200, body, headers: { etag } }
}

/** Made-up packs could have millions of them: what comes behind so many is not looked at. */
const MAX = 50_000

const listChanges = async (
  { sql }: ReadDeps,
  versions: { from: string; to: string },
  isPartial: boolean,
): Promise<HostNodeChange[]> => {
  const differences = await withinDeadline(sql, listDifferences(sql, versions))
  const lone = differences.flatMap((one) => (one.side === 'changed' ? [] : [one]))
  const changes = compareLone(lone, isPartial)
  for (const names of inBatches(differences.filter(({ side }) => side === 'changed'))) {
    const pairs = await withinDeadline(sql, readPairs(sql, versions, names))
    for (const { name, before, after } of changes.length < MAX ? pairs : [])
      for (const change of compareHostNode(before, after)) changes.push(ofHostNode(name, change))
  }
  return changes
}

/** Bytes that are read and compared at once: other requests are served between two batches. */
const BATCH_BYTES = 2 ** 20

/** Names of host nodes, as many together as may be read at once. */
export const inBatches = (differences: readonly Difference[]): string[][] => {
  const batches: string[][] = []
  // Less than any host node takes: the first one begins a batch, even if it has no bytes.
  let room = -1
  for (const { name, bytes } of differences) {
    if (room < bytes) batches.push([])
    room = (room < bytes ? BATCH_BYTES : room) - bytes
    batches.at(-1)?.push(name)
  }
  return batches
}
