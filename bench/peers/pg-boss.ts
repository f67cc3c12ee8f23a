import PgBoss from 'pg-boss'

import type { Transaction } from '../../src/db/client.ts'
import { inLanes } from '../support/lanes.ts'
import { ATTEMPTS, CONCURRENCY, JOB_NAMES, LOCK_SECONDS } from './queue.ts'
import type { JobName, PeerOptions, PeerQueue } from './queue.ts'

/** Jobs that one look takes; half a second between looks is the least that it allows. */
const BATCH = 20
const LOOK_SECONDS = 0.5

/**
 * A job of a killed worker waits until it expires, after 15 minutes, and for the maintenance that looks for expired ones,
 * every two. Tuned, both are seconds. There is no heartbeat: the longest job must be shorter.
 */
export const makePgBossQueue = ({ databaseUrl, tuned }: PeerOptions): PeerQueue => {
  const boss = new PgBoss({
    connectionString: databaseUrl,
    ...(tuned && { maintenanceIntervalSeconds: 1 }),
    schedule: false,
  })
  boss.on('error', (error) => process.stderr.write(`${error.stack ?? error.message}\n`))
  let started: Promise<unknown> | undefined
  const start = async (): Promise<void> => void (await (started ??= boss.start()))
  return {
    prepare: async () => {
      await start()
      for (const name of JOB_NAMES) {
        const retry = { retryLimit: ATTEMPTS, ...(tuned && { expireInSeconds: LOCK_SECONDS }) }
        await boss.createQueue(name, { name, ...retry })
      }
      await boss.stop({ graceful: false, wait: true })
    },
    commit: async (sql, write, { name, id }) => {
      await start()
      await sql.begin(async (sql) => {
        if (await write(sql)) await boss.send(name, { id }, { db: executorOf(sql) })
      })
    },
    work: async (jobs) => {
      await start()
      // A worker that has had something looks again at once, and the one that tells as soon as there is something to tell.
      const workers = new Map<JobName, string>()
      const wake = (name: JobName) => boss.notifyWorker(workers.get(name) ?? '')
      for (const name of JOB_NAMES) {
        const options = { batchSize: BATCH, pollingIntervalSeconds: LOOK_SECONDS }
        const worker = await boss.work<{ id: string }>(name, options, async (batch) => {
          wake(name)
          await inLanes(batch.length, CONCURRENCY[name], async (index) => {
            await jobs[name](batch[index]?.data.id ?? '')
            if (name === 'render') wake('tell')
          })
        })
        workers.set(name, worker)
      }
    },
  }
}

const executorOf = (sql: Transaction): PgBoss.Db => ({
  executeSql: async (text, values) => ({ rows: await sql.unsafe(text, values as string[]) }),
})
