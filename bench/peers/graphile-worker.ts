import { run, runMigrations } from 'graphile-worker'

import { makeDatabase } from '../../src/db/client.ts'
import { CONCURRENCY, JOB_NAMES } from './queue.ts'
import type { PeerOptions, PeerQueue } from './queue.ts'

/**
 * Jobs are added in SQL, as its documentation says, so one transaction writes them with the rows. A job of a killed worker
 * is locked for four hours. Tuned, a worker that starts unlocks what others hold by `force_unlock_workers`, which is right
 * only where it is the one worker there is.
 */
export const makeGraphileQueue = ({ databaseUrl, tuned }: PeerOptions): PeerQueue => ({
  prepare: () => runMigrations({ connectionString: databaseUrl }),
  commit: (sql, write, { name, id }) =>
    sql.begin(async (sql) => {
      if (await write(sql))
        await sql`select graphile_worker.add_job(${name}, json_build_object('id', ${id}::text))`
    }),
  work: async (jobs) => {
    if (tuned) await unlock(databaseUrl)
    for (const name of JOB_NAMES)
      await run({
        connectionString: databaseUrl,
        maxPoolSize: CONCURRENCY[name] + 2,
        concurrency: CONCURRENCY[name],
        noHandleSignals: true,
        taskList: { [name]: (payload) => jobs[name]((payload as { id: string }).id) },
      })
  },
})

const unlock = async (url: string): Promise<void> => {
  const sql = makeDatabase({ url, pool: 1, name: 'peer', statementTimeoutMs: 10_000 })
  await sql`
    select graphile_worker.force_unlock_workers(array_agg(distinct locked_by))
    from graphile_worker.jobs where locked_by is not null
  `
  await sql.end()
}
