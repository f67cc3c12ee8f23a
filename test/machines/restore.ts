import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { makeFolder, withKept } from '../support/keep.ts'
import type { Keep } from '../support/keep.ts'
import { makeDatabase } from '../../src/platform/db/client.ts'
import { secondsSince } from '../../src/local/console.ts'
import { startPostgres } from '../../src/local/postgres.ts'
import { startOwnPostgres, startOwnTemporal } from '../faults/servers.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { startS3Server, whyNoS3Server } from '../support/s3-server.ts'
import { startService } from '../support/service.ts'
import { PATIENT } from '../support/template.ts'
import { waitFor } from '../support/wait.ts'
import { startCallers } from './callers.ts'
import { countBroken } from './found.ts'
import type { Say } from './run.ts'
import { backUp } from './standby.ts'

const copy = (...args: string[]) => promisify(execFile)('cp', ['-a', ...args])

/** Backs up under load, then restores into empty servers: once with an empty Temporal, once with the one that went on. */
export const testRestore = async (say: Say): Promise<boolean> => {
  const missing = await whyNoS3Server()
  if (missing !== undefined) {
    say(`skipped: ${missing}`)
    return true
  }
  return await withKept(async (keep) => {
    const temporal = keep(await startOwnTemporal())
    const backup = await makeBackup(keep, temporal.server.address, say)
    const empty = keep(await startOwnTemporal())
    const ways = { 'with an empty Temporal': empty, 'beside the Temporal that went on': temporal }
    let isWell = true
    for (const [name, { server }] of Object.entries(ways))
      isWell = (await restore(backup, { name, address: server.address }, say)) && isWell
    return isWell
  })
}

interface Backup {
  /** Holds cluster and password of the database, and the copies of the bucket. */
  folder: string
  /** Tasks that were accepted before it began. */
  accepted: Map<string, number>
  /** All that was ever accepted. */
  later: Map<string, number>
  settings: NodeJS.ProcessEnv
}

const makeBackup = async (keep: Keep, temporal: string, say: Say): Promise<Backup> => {
  const folder = keep(await makeFolder()).path
  return await withKept(async (keep) => {
    const postgres = await startOwnPostgres()
    const store = keep(await startS3Server())
    const service = keep(
      await startService({
        database: postgres.database,
        env: { ...store.settings, TEMPORAL_ADDRESS: temporal },
      }),
    )
    const callers = keep(await startCallers([service.baseUrl], await service.token('alice')))
    await waitFor('tasks are accepted', async () => callers.accepted.size >= 60)
    await copy(store.folder, join(folder, 'files-before'))
    await waitFor('more tasks are accepted', async () => callers.accepted.size >= 100)
    const accepted = new Map(callers.accepted)
    await backUp(postgres.server, folder)
    await waitFor('more tasks are accepted', async () => callers.accepted.size >= 140)
    await copy(store.folder, join(folder, 'files-after'))
    await callers.stop()
    say(`accepted before the backup: ${accepted.size}`)
    return { folder, accepted, later: callers.accepted, settings: service.settings }
  })
}

interface Way {
  name: string
  /** Address of Temporal. */
  address: string
}

const restore = async (backup: Backup, { name, address }: Way, say: Say): Promise<boolean> =>
  await withKept(async (keep) => {
    const folder = keep(await makeFolder()).path
    await copy(join(backup.folder, 'cluster'), join(backup.folder, 'password'), folder)
    const server = await startPostgres({ dataDir: folder, say: () => {} })
    keep({ stop: () => server.remove() })
    const sql = makeDatabase({ url: server.url, ...PATIENT, pool: 4 })
    const keys = await sql<{ key: string }[]>`
      select storage_key as key from task_result
      union select storage_key from task_input where url is null
    `
    for (const order of ['before', 'after']) {
      const files = join(backup.folder, `files-${order}`)
      const missing = keys.filter(({ key }) => !existsSync(join(files, key)))
      say(`files copied ${order} the database: ${missing.length} of ${keys.length} are missing`)
    }
    const [open] = await sql<{ count: number }[]>`
      select count(*)::integer as count from task where ended_at is null
    `
    const store = keep(await startS3Server())
    await copy(`${join(backup.folder, 'files-after')}/.`, store.folder)
    const { TASK_QUEUE, SIGNING_KEYS, SECRETS_KEYS } = backup.settings
    const service = keep(
      await startService({
        database: { url: server.url, sql, drop: () => sql.end({ timeout: 1 }) },
        env: {
          ...store.settings,
          TASK_QUEUE,
          SIGNING_KEYS,
          SECRETS_KEYS,
          TEMPORAL_ADDRESS: address,
          OVERRIDE_RECONCILE_AFTER_SECONDS: '5',
        },
      }),
    )
    const start = Date.now()
    const hasEnded = async () => (await sql`select from task where ended_at is null`).length === 0
    await waitFor('all have ended', hasEnded, 2 * PATIENCE_MS)
    say(`${name}: ${open?.count} open tasks ended within ${secondsSince(start)}`)
    const token = await service.token('alice')
    const place = { sql, callers: backup, later: backup.later, url: service.baseUrl, token }
    return await countBroken(place, say)
  })
