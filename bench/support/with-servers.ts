import { startTestServers } from '../../test/support/servers.ts'
import type { TestServers } from '../../test/support/servers.ts'

/** Has a started thing stopped when the bench ends; answers it. */
export type Keep = <Started extends { stop: () => Promise<unknown> }>(started: Started) => Started

/** Runs a bench with PostgreSQL and Temporal, and stops at its end what it keeps, the last first. */
export const withServers = async (
  measure: (keep: Keep, servers: TestServers) => Promise<void>,
): Promise<void> => {
  const stops: (() => Promise<unknown>)[] = []
  const keep: Keep = (started) => {
    stops.unshift(() => started.stop())
    return started
  }
  try {
    const servers = keep(await startTestServers(() => {}, { sync: 'disk' }))
    Object.assign(process.env, servers.env)
    // The next bench starts its own.
    keep({ stop: async () => Object.keys(servers.env).forEach((name) => delete process.env[name]) })
    await measure(keep, servers)
  } finally {
    for (const stop of stops) await stop()
  }
}
