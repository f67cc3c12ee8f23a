import { makeStartOf } from '../../src/tasks/temporal/task.ts'
import { decodeJwt } from 'jose'

import { makeSigner } from '../../src/platform/adapters/signing.ts'
import { makeDatabase } from '../../src/platform/db/client.ts'
import { makeCountCache } from '../../src/registry/db/search/listed-count.ts'
import { makeSemaphore } from '../../src/platform/domain/semaphore.ts'
import type { Authenticate } from '../../src/identity/http/access/auth.ts'
import type { CredentialHeaders } from '../../src/platform/http/access/caller.ts'
import type { TaskDeps } from '../../src/tasks/deps.ts'
import { makeImageTaskRoutes } from '../../src/tasks/http/image/routes.ts'
import type { HostNodeDeps, VersionDeps } from '../../src/registry/http/deps.ts'
import { makeHostNodeRoutes } from '../../src/registry/http/host-node-routes.ts'
import { makeNodeRoutes } from '../../src/registry/http/node-routes.ts'
import { makeVersionRoutes } from '../../src/registry/http/version-routes.ts'
import { startRoutes } from '../../test/support/routes.ts'
import type { Service } from '../../test/support/service.ts'
import { call } from '../support/call.ts'
import { POOL } from './measure.ts'
import type { HttpRequest } from './http-client.ts'
import type { Shape } from './shapes.ts'

/** A statement as the driver sends it. */
export interface Statement {
  text: string
  values: unknown[]
  types: number[]
}

/** Statements that a request leads to, and its response. */
export interface Recorded {
  /** One after the other. */
  statements: Statement[]
  /** After them, in one transaction. */
  written?: Statement[]
  /** Texts of `written` and of the response that are others in each request. */
  fresh?: Fresh
  status: number
  json: unknown
}

export interface Fresh {
  id: string
  owner: string
  /** Users who stand for the owner, in turn. */
  owners: readonly string[]
}

/**
 * Finds out which SQL a request leads to by having the routes themselves serve it in this process: over a pool of the api's
 * own making whose driver reports each statement. Nothing is written by hand, so that both sides always send the same.
 */
export const startRecorder = async (url: string, { baseUrl, settings }: Service) => {
  let received: Statement[] = []
  const sql = makeDatabase({
    url,
    pool: POOL,
    name: 'kiln bench recorder',
    statementTimeoutMs: 0,
    onStatement: (statement) => received.push(statement),
  })
  const keys = [settings['SIGNING_KEYS'] ?? '']
  const signer = makeSigner({ keys, publicUrl: baseUrl, linkSeconds: 60 })
  const routes = makeRecordedRoutes({ sql, signer, publicUrl: baseUrl })
  const server = await startRoutes(routes, { sql, authenticate: trustToken })
  return {
    /**
     * Records the statements of a request of a shape, once those of an equal one have left their counts in memory; unless
     * `before`, which is done between the two, makes them count again.
     */
    async record(
      request: HttpRequest,
      { before, owners }: Pick<Shape, 'before' | 'owners'>,
    ): Promise<Recorded> {
      await call(server.url + request.path, request)
      await before?.()
      received = []
      const { status, json } = await call(server.url + request.path, request)
      if (!owners) return { statements: withoutEnds(received), status, json }
      const begin = received.findIndex(({ text }) => text.startsWith('begin'))
      const { task_id: id } = (json as { data: { task_id: string } }).data
      return {
        statements: received.slice(0, begin),
        written: withoutEnds(received.slice(begin)),
        fresh: { id, owner: ownerOf(request.headers), owners },
        status,
        json,
      }
    },
    async stop(): Promise<void> {
      await server.close()
      await sql.end()
    },
  }
}

/** Without the beginnings and ends of transactions. */
const withoutEnds = (statements: readonly Statement[]): Statement[] =>
  statements.filter(({ text }) => !/^(begin|commit)/.test(text))

/** Subject of a token, unverified: the service verifies the same token itself. */
const ownerOf = ({ authorization = '' }: CredentialHeaders = {}): string =>
  decodeJwt(String(authorization).replace('Bearer ', '')).sub ?? ''

const trustToken: Authenticate = async (headers) => {
  if (headers['authorization'] === undefined) return undefined
  const owner = ownerOf(headers)
  return { principal: owner, owner, scheme: 'jwt' }
}

const TIMING = { heartbeatSeconds: 1, deadlineSeconds: 60 }

/** Those that are measured. What no read and no creation from a link needs is left out. */
const makeRecordedRoutes = (own: Pick<TaskDeps, 'sql' | 'signer' | 'publicUrl'>) => {
  const deps = {
    ...own,
    jobs: { dispatchNow: () => {} },
    // Without texts in memory: a bare server has none.
    cache: { ...makeCountCache(), texts: { find: () => undefined, keep: () => {} } },
    heavyReadSemaphore: makeSemaphore(4),
    searches: makeSemaphore(5),
    searchMaxDepth: 10_000,
    startOf: makeStartOf({
      taskQueue: 'none',
      timing: TIMING,
      videoTiming: { ...TIMING, offPeakSeconds: 60 },
    }),
    engineOf: () => 'local',
    quotas: { owner: { tasks: 1e6, bytes: 1e12, retentionDays: 30 } },
    now: () => new Date(),
  } as unknown as VersionDeps & HostNodeDeps & TaskDeps
  return [
    ...makeNodeRoutes(deps),
    ...makeVersionRoutes(deps),
    ...makeHostNodeRoutes(deps),
    ...makeImageTaskRoutes(deps),
  ]
}
