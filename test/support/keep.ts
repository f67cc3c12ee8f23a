import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { startTestServers } from './servers.ts'
import type { TestServers } from './servers.ts'

/** Has a started thing stopped in the end; returns it. */
export type Keep = <Started extends { stop: () => unknown }>(started: Started) => Started

/** Runs a bench or a scenario, and stops at its end what it keeps, the last first. */
export const withKept = async <T>(measure: (keep: Keep) => Promise<T>): Promise<T> => {
  const stops: (() => unknown)[] = []
  const keep: Keep = (started) => {
    stops.unshift(() => started.stop())
    return started
  }
  try {
    return await measure(keep)
  } finally {
    for (const stop of stops) await stop()
  }
}

/** The same with PostgreSQL and Temporal. */
export const withServers = async <T>(
  measure: (keep: Keep, servers: TestServers) => Promise<T>,
): Promise<T> =>
  await withKept(async (keep) => {
    const servers = keep(await startTestServers(() => {}, { sync: 'disk' }))
    Object.assign(process.env, servers.env)
    // The next bench starts its own.
    keep({ stop: async () => Object.keys(servers.env).forEach((name) => delete process.env[name]) })
    return await measure(keep, servers)
  })

/** A folder for files of a bench or a scenario, which other users get through: PostgreSQL is one of them when this is root. */
export const makeFolder = async (): Promise<{ path: string; stop(): Promise<void> }> => {
  const path = await mkdtemp(join(tmpdir(), 'kiln-bench-'))
  await chmod(path, 0o711)
  return { path, stop: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) }
}
