import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { startTestServers } from '../../test/support/servers.ts'
import type { TestServers } from '../../test/support/servers.ts'

/** Has a started thing stopped when the bench ends; answers it. */
export type Keep = <Started extends { stop: () => Promise<unknown> }>(started: Started) => Started

/** Runs a bench, and stops at its end what it keeps, the last first. */
export const withKept = async (measure: (keep: Keep) => Promise<void>): Promise<void> => {
  const stops: (() => Promise<unknown>)[] = []
  const keep: Keep = (started) => {
    stops.unshift(() => started.stop())
    return started
  }
  try {
    await measure(keep)
  } finally {
    for (const stop of stops) await stop()
  }
}

/** The same with PostgreSQL and Temporal. */
export const withServers = async (
  measure: (keep: Keep, servers: TestServers) => Promise<void>,
): Promise<void> =>
  await withKept(async (keep) => {
    const servers = keep(await startTestServers(() => {}, { sync: 'disk' }))
    Object.assign(process.env, servers.env)
    // The next bench starts its own.
    keep({ stop: async () => Object.keys(servers.env).forEach((name) => delete process.env[name]) })
    await measure(keep, servers)
  })

/** A folder for files of a bench, which other users get through: PostgreSQL is one of them when this is root. */
export const makeFolder = async (): Promise<{ path: string; stop(): Promise<void> }> => {
  const path = await mkdtemp(join(tmpdir(), 'kiln-bench-'))
  await chmod(path, 0o711)
  return { path, stop: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) }
}
