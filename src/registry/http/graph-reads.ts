import { withinDeadline } from '../../platform/db/client.ts'
import {
  findBuiltIn,
  findCandidates,
  findClaims,
  findInactive,
  findInstalled,
  findLast,
  findNamesOf,
  findRecorded,
  findReplacements,
  findUnread,
  findWorkflowNames,
} from '../db/graph.ts'
import { listDifferences, readPairs } from '../db/host-node-compare.ts'
import type { VersionFacts } from '../db/version.ts'
import type { Recorded } from '../domain/graph/resolve.ts'
import { ApiError } from '../../platform/domain/errors.ts'
import { getVersionAccess } from './access.ts'
import type { ListDeps } from './deps.ts'

/** Parameters of a query, but for its connection. */
type Tail<Query> = Query extends (sql: never, ...rest: infer Rest) => unknown ? Rest : never

type Versions = Parameters<typeof listDifferences>[1]
type Candidates = Omit<Parameters<typeof findCandidates>[1], 'publicUrl'>

/** Makes the reads of the registry that questions about workflows need; their thread asks for them by name. */
export const makeGraphReads = ({ sql, publicUrl, heavyReadSemaphore }: ListDeps) => ({
  findClaims: (names: readonly string[]) => withinDeadline(sql, findClaims(sql, names)),
  findWorkflowNames: (names: readonly string[]) =>
    withinDeadline(sql, findWorkflowNames(sql, names)),
  findInstalled: (...asked: Tail<typeof findInstalled>) =>
    withinDeadline(sql, findInstalled(sql, ...asked)),
  findLast: (asked: Parameters<typeof findLast>[1]) => withinDeadline(sql, findLast(sql, asked)),
  findBuiltIn: (names: readonly string[]) => withinDeadline(sql, findBuiltIn(sql, names)),
  findRecorded: (given: readonly Recorded[]) => withinDeadline(sql, findRecorded(sql, given)),
  findCandidates: (asked: Candidates) =>
    withinDeadline(sql, findCandidates(sql, { ...asked, publicUrl })),
  findInactive: (nodeIds: readonly string[]) => withinDeadline(sql, findInactive(sql, nodeIds)),
  findUnread: (versionIds: readonly string[]) => withinDeadline(sql, findUnread(sql, versionIds)),
  findReplacements: (...asked: Tail<typeof findReplacements>) =>
    withinDeadline(sql, findReplacements(sql, ...asked)),
  findNamesOf: (asked: Parameters<typeof findNamesOf>[1]) =>
    withinDeadline(sql, findNamesOf(sql, asked)),
  /** A version that everybody may read; undefined for any other. */
  findVersion: async (nodeId: string, version: string): Promise<VersionFacts | undefined> => {
    const asked = { nodeId, version, access: 'read', caller: undefined } as const
    try {
      return await getVersionAccess({ sql }, asked)
    } catch (error) {
      if (error instanceof ApiError && error.status < 500) return undefined
      throw error
    }
  },
  listDifferences: (versions: Versions) =>
    heavyReadSemaphore.run(() => withinDeadline(sql, listDifferences(sql, versions))),
  readPairs: (versions: Versions, names: readonly string[]) =>
    heavyReadSemaphore.run(() => withinDeadline(sql, readPairs(sql, versions, names))),
})
export type GraphReads = ReturnType<typeof makeGraphReads>
