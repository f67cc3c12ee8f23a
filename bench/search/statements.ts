import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { randomBytes } from 'node:crypto'

import { Connection } from '@temporalio/client'

import { makeSecrets } from '../../src/adapters/secrets.ts'
import { makeIssuerKeys } from '../../src/adapters/issuer-keys.ts'
import { makeOutbound } from '../../src/adapters/outbound/outbound.ts'
import { makeSigner } from '../../src/adapters/signing.ts'
import { makeDatabase } from '../../src/db/client.ts'
import type { Sql } from '../../src/db/client.ts'
import { makeCountMemo } from '../../src/db/search/listed-count.ts'
import { makeApp } from '../../src/http/app.ts'
import { makeBudget } from '../../src/http/body/budget.ts'
import { makeWatches } from '../../src/http/live/watches.ts'
import { makeGate } from '../../src/domain/shared/gate.ts'
import { makeIdempotency } from '../../src/http/access/idempotency.ts'
import { makeHostNodeRoutes } from '../../src/http/registry/host-node-routes.ts'
import { makeNodeRoutes } from '../../src/http/registry/node-routes.ts'
import { makeVersionRoutes } from '../../src/http/registry/version-routes.ts'
import { makeJobs } from '../../src/jobs/client.ts'
import { makeLog } from '../../src/log.ts'
import { call } from '../support/call.ts'
import { POOL } from './measure.ts'
import type { HttpRequest } from './http-client.ts'

/** A statement as the driver sends it. */
export interface Statement {
  text: string
  values: unknown[]
  types: number[]
}

/** What a request leads to, and its answer. */
export interface Recorded {
  /** One after the other. */
  statements: Statement[]
  /** After them, in one transaction. */
  written?: Statement[]
  /** Texts of `written` and of the answer that are others in each request. */
  fresh?: Fresh
  status: number
  /** Undefined with 304. */
  json?: unknown
}

export interface Fresh {
  id: string
  owner: string
  /** Who stand for the owner, in turn. */
  owners: readonly string[]
}

export interface Recorder {
  /**
   * What a request leads to, once those of an equal one have left their counts in memory; unless `before`, which is
   * done between the two, makes them count again.
   */
  record(request: HttpRequest, before?: () => Promise<void>): Promise<Recorded>
  /** The statements that work of the service's own leads to. */
  hear(work: (sql: Sql) => Promise<unknown>): Promise<Statement[]>
  stop(): Promise<void>
}

/**
 * Finds out which SQL a request leads to by having the routes themselves serve it in this process: over a pool of the api's
 * own making whose driver tells of each statement. Nothing is written by hand, so that both sides always send the same.
 */
export const startRecorder = async (url: string, publicUrl: string): Promise<Recorder> => {
  let heard: Statement[] = []
  const sql = makeDatabase({
    url,
    pool: POOL,
    name: 'kiln bench recorder',
    statementTimeoutMs: 0,
    onStatement: (statement) => heard.push(statement),
  })
  const connection = Connection.lazy()
  const server = createServer(makeRecordedApp({ sql, connection, publicUrl }))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const hear: Recorder['hear'] = async (work) => {
    heard = []
    await work(sql)
    return heard.filter(({ text }) => !/^(begin|commit)/.test(text))
  }
  return {
    hear,
    record: async (request, before) => {
      const url = baseUrl + request.path
      const { status, json } = await call(url, request)
      await before?.()
      const statements = await hear(() => call(url, request))
      return { statements, status, json }
    },
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await sql.end()
      await connection.close()
    },
  }
}

interface Served {
  sql: Sql
  connection: Connection
  publicUrl: string
}

/** The reading routes of the registry, for callers without a credential. */
const makeRecordedApp = ({ sql, connection, publicUrl }: Served) => {
  const log = makeLog('bench', 'silent')
  const keys = [randomBytes(32).toString('base64')]
  const outbound = makeOutbound({ allowLoopback: false, ports: [], deny: [] })
  const deps = {
    sql,
    jobs: makeJobs({ connection, namespace: 'default', sql, log }),
    signer: makeSigner({ keys, publicUrl, linkSeconds: 60 }),
    log,
    // Without texts in memory: a bare server has none.
    memo: { ...makeCountMemo(), texts: { find: () => undefined, keep: () => {} } },
    heavyReads: makeGate(4),
    searches: makeGate(5),
    publicUrl,
    taskQueue: 'bench',
    now: () => new Date(),
    publishAuth: 'token' as const,
    redeliveryLimits: { perEvent: 0, perHost: 1 },
    watches: makeWatches({ most: 1 }),
    watchReads: makeGate(1),
    outbound,
    issuerKeys: makeIssuerKeys(outbound, log),
    oidcAudience: '',
    maxPublishersPerUser: 0,
    searchMaxDepth: 10_000,
    extractionToken: undefined,
    archiveMaxBytes: 0,
    uploadExpirySeconds: 0,
  }
  return makeApp({
    routes: [...makeNodeRoutes(deps), ...makeVersionRoutes(deps), ...makeHostNodeRoutes(deps)],
    log,
    lifecycle: { state: 'serving' },
    authenticate: async () => undefined,
    idempotency: makeIdempotency({ sql, secrets: makeSecrets({ keys }), log }),
    budget: makeBudget(),
    scratchDir: tmpdir(),
    maxImageBytes: 0,
    maxImagePixels: 0,
  })
}
