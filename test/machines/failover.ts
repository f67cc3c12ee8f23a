import { setTimeout as sleep } from 'node:timers/promises'

import { Client } from '@temporalio/client'
import type { Connection } from '@temporalio/client'

import { makeDatabase } from '../../src/platform/db/client.ts'
import { startOwnPostgres, startOwnTemporal } from '../faults/servers.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { startService } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'
import { startCallers } from './callers.ts'
import { withKept } from '../support/keep.ts'
import { PASS, startLink } from '../support/link.ts'
import { startStandby } from './standby.ts'
import type { Say } from './run.ts'

interface Way {
  name: string
  isSynchronous: boolean
  /** The standby is behind by so many milliseconds of commits. */
  behindMs: number
  /** True when connections to the dead primary stay silent; otherwise they are reset. */
  leaveBehind: boolean
}

const WAYS: Way[] = [
  { name: 'asynchronous', isSynchronous: false, behindMs: 0, leaveBehind: false },
  { name: 'asynchronous, behind', isSynchronous: false, behindMs: 1500, leaveBehind: false },
  { name: 'synchronous, behind', isSynchronous: true, behindMs: 1500, leaveBehind: false },
  { name: 'synchronous, primary silent', isSynchronous: true, behindMs: 0, leaveBehind: true },
]

/** A primary with callers is killed, and its standby promoted two seconds later at the same address. */
export const testFailover = async (say: Say): Promise<boolean> => {
  say(
    'replication | accepted before | of them lost | no task accepted for | accepted after | not ended',
  )
  let isWell = true
  for (const way of WAYS) isWell = (await failOver(way, say)) && isWell
  return isWell
}

const failOver = async (way: Way, say: Say): Promise<boolean> =>
  await withKept(async (keep) => {
    const primary = await startOwnPostgres()
    keep({ stop: primary.database.drop })
    const standby = keep(await startStandby(primary.server))
    if (way.isSynchronous) {
      const { sql } = primary.database
      await sql`alter system set synchronous_standby_names = '*'`
      await sql`select pg_reload_conf()`
    }
    const temporal = keep(await startOwnTemporal())
    const link = keep(await startLink(primary.server.url, '127.0.0.10'))
    const url = link.url(primary.server.url)
    const limits = { pool: 2, statementTimeoutMs: 5000, waitMs: 10_000 }
    const sql = makeDatabase({ url, name: 'kiln machines', ...limits })
    const service = keep(
      await startService({
        database: { url, sql, drop: () => sql.end({ timeout: 1 }) },
        env: {
          TEMPORAL_ADDRESS: temporal.server.address,
          OVERRIDE_DATABASE_TIMEOUT_MS: '1500',
          OVERRIDE_RECONCILE_AFTER_SECONDS: '10',
        },
      }),
    )
    const callers = keep(await startCallers([service.baseUrl], await service.token('alice')))
    await waitFor('tasks are accepted', async () => callers.accepted.size >= 40)
    if (way.behindMs > 0) {
      standby.fallBehind()
      await sleep(way.behindMs)
    }
    callers.longestGap()
    if (way.leaveBehind) link.leadTo(standby.server.port, { leaveBehind: true })
    else link.set({ name: 'reject' })
    await primary.server.kill()
    const before = new Set(callers.accepted.keys())
    await sleep(2000)
    await standby.promote()
    link.leadTo(standby.server.port)
    link.set(PASS)
    const goesOn = async () => callers.accepted.size >= before.size + 40
    await waitFor('tasks are accepted again', goesOn, 2 * PATIENCE_MS)
    const gap = callers.longestGap()
    await callers.stop()
    const ids = async (rows: Promise<{ id: string }[]>) => new Set((await rows).map(({ id }) => id))
    const found = await ids(standby.sql<{ id: string }[]>`select id from task`)
    const lost = [...before].filter((id) => !found.has(id))
    const later = [...callers.accepted.keys()].filter((id) => !before.has(id))
    const lostLater = later.filter((id) => !found.has(id))
    const hasEnded = async () =>
      (await standby.sql`select from task where ended_at is null`).length === 0
    const ended = await waitFor('all have ended', hasEnded, 2 * PATIENCE_MS).catch(() => false)
    const hasNone = async () => (await countOpen(temporal.connection)) === 0
    await waitFor('no workflow is left', hasNone).catch(() => say('  workflows are left open'))
    const wrong = await standby.sql`
      select status, error_code, count(*)::int from task where status <> 'COMPLETED' group by 1, 2
    `
    say(
      `${way.name} | ${before.size} | ${lost.length} | ${(gap / 1000).toFixed(1)} s | ${later.length}, lost ${lostLater.length} | ${ended ? 0 : 'some'}`,
    )
    for (const row of wrong) say(`  ended otherwise: ${JSON.stringify(row)}`)
    const mayLose = !way.isSynchronous
    return ended && lostLater.length === 0 && (mayLose || (lost.length === 0 && wrong.length === 0))
  })

/** Workflows of tasks. */
const countOpen = async (connection: Connection): Promise<number> => {
  const query = "WorkflowType = 'imageTask' and ExecutionStatus = 'Running'"
  return (await new Client({ connection }).workflow.count(query)).count
}
