import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { withKept } from '../support/keep.ts'
import type { Keep } from '../support/keep.ts'
import { makeDatabase } from '../../src/db/client.ts'
import { startPostgres } from '../../src/local/postgres.ts'
import { startOwnPostgres, startOwnTemporal } from '../faults/servers.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { startS3Server, whyNoS3Server } from '../support/s3-server.ts'
import { startService } from '../support/service.ts'
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
  let isWell = false
  await withKept(async (keep) => {
    const temporal = keep(await startOwnTemporal())
    const backup = await makeBackup(keep, temporal.server.address, say)
    const empty = keep(await startOwnTemporal())
    const runs = [
      await restore(backup, { name: 'with an empty Temporal', address: empty.server.address }, say),
      await restore(
        backup,
        { name: 'beside the Temporal that went on', address: temporal.server.address },
        say,
      ),
    ]
    isWell = runs.every(Boolean)
  })
  return isWell
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

const makeFolder = async (keep: Keep): Promise<string> => {
  const path = await mkdtemp(join(tmpdir(), 'kiln-restore-'))
  await chmod(path, 0o711)
  keep({ stop: () => rm(path, { recursive: true, force: true }) })
  return path
}

const makeBackup = async (keep: Keep, temporal: string, say: Say): Promise<Backup> => {
  const folder = await makeFolder(keep)
  let result: Backup | undefined
  await withKept(async (keep) => {
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
    result = { folder, accepted, later: callers.accepted, settings: service.settings }
  })
  say(`accepted before the backup: ${result?.accepted.size}`)
  return result as Backup
}

interface Way {
  name: string
  /** Address of Temporal. */
  address: string
}

const restore = async (backup: Backup, { name, address }: Way, say: Say): Promise<boolean> => {
  let isWell = false
  await withKept(async (keep) => {
    const folder = await makeFolder(keep)
    await copy(join(backup.folder, 'cluster'), join(backup.folder, 'password'), folder)
    const server = await startPostgres({ dataDir: folder, say: () => {} })
    keep({ stop: () => server.remove() })
    const sql = makeDatabase({
      url: server.url,
      pool: 4,
      name: 'kiln machines',
      statementTimeoutMs: 0,
      waitMs: PATIENCE_MS,
    })
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
    await waitFor(
      'all have ended',
      async () => (await sql`select from task where ended_at is null`).length === 0,
      2 * PATIENCE_MS,
    )
    say(
      `${name}: ${open?.count} open tasks ended within ${((Date.now() - start) / 1000).toFixed(0)} s`,
    )
    const token = await service.token('alice')
    isWell = await countBroken(
      { sql, callers: backup, later: backup.later, url: service.baseUrl, token },
      say,
    )
  })
  return isWell
}
