import { Type } from 'typebox'

import { inTime } from '../domain/in-time.ts'
import type { Lifecycle } from './serve/lifecycle.ts'
import { defineRoute, ok, type Route } from './route.ts'

const Check = Type.Enum(['ok', 'down'])

const Readiness = Type.Object({
  status: Type.Enum(['ready', 'degraded', 'unready']),
  checks: Type.Object({
    postgres: Check,
    temporal: Check,
    storage: Check,
    draining: Type.Boolean({ description: 'True once this process is stopping.' }),
  }),
})

/** Each throws when its dependency cannot be used. */
export interface HealthChecks {
  postgres(): Promise<unknown>
  temporal(): Promise<unknown>
  storage(): Promise<unknown>
}

export interface HealthDeps {
  checks: HealthChecks
  lifecycle: Lifecycle
}

const TIMEOUT_MS = 1000
const CACHE_MS = 1000

/** Makes the routes for operators: is the service alive, and is it fit for traffic. */
export const makeHealthRoutes = ({ checks, lifecycle }: HealthDeps): Route[] => {
  const postgres = makeCheck(checks.postgres)
  const temporal = makeCheck(checks.temporal)
  const storage = makeCheck(checks.storage)
  return [
    defineRoute({
      ...COMMON,
      method: 'get',
      path: '/health',
      summary: 'Alive: the event loop turns',
      responses: ok('Alive.', Type.Object({ status: Type.Enum(['ok']) })),
      errors: [],
      handler: () => Promise.resolve({ status: 200, body: { status: 'ok' } }),
    }),
    defineRoute({
      ...COMMON,
      method: 'get',
      path: '/ready',
      summary: 'Fit for traffic',
      description:
        'Unready without PostgreSQL, or while the process stops. Without Temporal or the store the service goes on, degraded.',
      responses: {
        200: { description: 'Ready or degraded.', schema: Readiness },
        503: { description: 'Unready.', schema: Readiness },
      },
      errors: [],
      handler: async () => {
        const [database, engine, store] = await Promise.all([postgres(), temporal(), storage()])
        const draining = lifecycle.state !== 'serving'
        const unready = database === 'down' || draining
        const status = unready ? 'unready' : [engine, store].includes('down') ? 'degraded' : 'ready'
        return {
          status: unready ? 503 : 200,
          body: {
            status,
            checks: { postgres: database, temporal: engine, storage: store, draining },
          },
        }
      },
    }),
  ]
}

const COMMON = { tag: 'Health', auth: 'none', evenWhileClosing: true, unread: 'ignored' } as const

/** Makes a check that responds within a second and asks at most once a second, however often it is called. */
const makeCheck = (check: () => Promise<unknown>): (() => Promise<'ok' | 'down'>) => {
  let last: { at: number; result: Promise<'ok' | 'down'> } | undefined
  return () => {
    if (!last || performance.now() - last.at > CACHE_MS)
      last = { at: performance.now(), result: runCheck(check) }
    return last.result
  }
}

const runCheck = (check: () => Promise<unknown>): Promise<'ok' | 'down'> =>
  inTime(check(), TIMEOUT_MS, 'a check').then(
    () => 'ok',
    () => 'down',
  )
