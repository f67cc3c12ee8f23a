import { Type } from 'typebox'

import type { ReadDependencies } from '../process/dependencies.ts'
import type { Lifecycle } from './serve/lifecycle.ts'
import { defineRoute, ok, type Route } from './route.ts'

const Check = Type.Enum(['ok', 'down'])

const Readiness = Type.Object({
  status: Type.Enum(['ready', 'degraded', 'unready']),
  checks: Type.Object({
    postgres: Check,
    temporal: Check,
    storage: Check,
    workers: Check,
    draining: Type.Boolean({ description: 'True once this process is stopping.' }),
  }),
})

export interface HealthDeps {
  dependencies: ReadDependencies
  lifecycle: Lifecycle
}

/** Makes the routes for operators: is the service alive, and is it fit for traffic. */
export const makeHealthRoutes = ({ dependencies, lifecycle }: HealthDeps): Route[] => [
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
      'Unready without PostgreSQL that takes writes, or while the process stops. Without Temporal with its namespace, the store, or workers for the work that is open the service goes on, degraded. `operate doctor` says why.',
    responses: {
      200: { description: 'Ready or degraded.', schema: Readiness },
      503: { description: 'Unready.', schema: Readiness },
    },
    errors: [],
    handler: async () => {
      const state = await dependencies()
      const checks = {
        postgres: show(state.postgres),
        temporal: show(state.temporal),
        storage: show(state.storage),
        workers: show(state.workers),
      } as const
      const draining = lifecycle.state !== 'serving'
      const isUnready = checks.postgres === 'down' || draining
      const isWell = Object.values(checks).every((check) => check === 'ok')
      const status = isUnready ? 'unready' : isWell ? 'ready' : 'degraded'
      return { status: isUnready ? 503 : 200, body: { status, checks: { ...checks, draining } } }
    },
  }),
]

const show = (problem: string | undefined) => (problem === undefined ? 'ok' : 'down')

const COMMON = { tag: 'Health', auth: 'none', evenWhileClosing: true, unread: 'ignored' } as const
