import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { makeSecrets } from '../../src/platform/adapters/secrets.ts'
import { makeDatabase, type Sql } from '../../src/platform/db/client.ts'
import { findTaskFamily } from '../../src/tasks/db/task.ts'
import { makeApp } from '../../src/compose/app.ts'
import type { Authenticate } from '../../src/identity/http/access/auth.ts'
import { makeBudget } from '../../src/platform/json-body/budget.ts'
import type { Budget } from '../../src/platform/json-body/budget.ts'
import { makeIdempotency } from '../../src/platform/process/idempotency.ts'
import type { RateLimits } from '../../src/platform/http/access/rate-limit.ts'
import type { Route } from '../../src/platform/http/route.ts'
import { makeServer } from '../../src/platform/http/serve/server.ts'
import type { ServerOptions } from '../../src/platform/http/serve/server.ts'
import { VIDEO_ERRORS } from '../../src/tasks/http/video/error-form.ts'
import { makeLog } from '../../src/platform/log.ts'
import { listen } from './network.ts'

export interface RoutesOptions {
  /** Absent for routes that ask no database. */
  sql?: Sql
  /** Absent for routes that look at no credential. */
  authenticate?: Authenticate
  /** Absent: nobody is limited. */
  rateLimits?: RateLimits
  trustProxy?: string[]
  budget?: Budget
  server?: ServerOptions
}

export type RouteServer = Awaited<ReturnType<typeof startRoutes>>

/** Makes a route of a test, which returns an empty object unless it is said what it does. */
export const makeRoute = (
  method: Route['method'],
  path: string,
  more: Partial<Route> = {},
): Route => ({
  method,
  path,
  tag: 'Test',
  summary: 'Test',
  auth: 'none',
  responses: { 200: { description: 'Done' } },
  errors: [],
  handler: () => Promise.resolve({ status: 200, body: {} }),
  ...more,
})

/** Serves some routes as the api does, on a free port of 127.0.0.1. */
export const startRoutes = async (
  routes: Route[],
  {
    sql = makeDatabase({ url: 'postgres://unused', pool: 1, name: '', statementTimeoutMs: 0 }),
    authenticate = () => Promise.resolve(undefined),
    budget = makeBudget(),
    server: serverOptions,
    ...options
  }: RoutesOptions = {},
) => {
  const scratchDir = await mkdtemp(join(tmpdir(), 'kiln-routes-'))
  const log = makeLog('test', 'silent')
  const secrets = makeSecrets({ keys: [randomBytes(32).toString('base64')] })
  const app = makeApp({
    ...options,
    routes,
    log,
    lifecycle: { state: 'serving' },
    authenticate,
    findTaskFamily: (task) => findTaskFamily(sql, task),
    idempotency: makeIdempotency({ sql, secrets, log }),
    budget,
    signer: { nameLink: () => undefined },
    scratchDir,
    maxImageBytes: 50_000_000,
    maxImagePixels: 100_000_000,
  })
  const server = makeServer(app, {
    errorForm: VIDEO_ERRORS,
    trustProxy: options.trustProxy ?? [],
    ...serverOptions,
  })
  const { port, close } = await listen(server)
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      await close()
      await rm(scratchDir, { recursive: true })
    },
  }
}
