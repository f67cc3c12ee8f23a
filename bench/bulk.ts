import { setTimeout as sleep } from 'node:timers/promises'

import type { Sql } from '../src/platform/db/client.ts'
import { IMAGE_API } from '../test/support/client.ts'
import { withServers } from '../test/support/keep.ts'
import { startService } from '../test/support/service.ts'
import { insertTasks } from '../test/support/task-rows.ts'
import { bearer, callJson } from './support/call.ts'
import { at, say, showResult } from './support/results.ts'
import { DEFAULTS } from './support/settings.ts'
import { relight, startTaskClient } from './support/task-client.ts'

const TASKS = Number(process.env['TASKS'] ?? 100_000)
const OPEN = Number(process.env['OPEN'] ?? 20_000)
const OWNER = 'bulk'
/** The tasks have no workflow, and reconcile would start one of each. */
const ENV = { ...DEFAULTS, OVERRIDE_RECONCILE_AFTER_SECONDS: '86400' }
const QUIET_MS = 20_000
/** Reads of a status in a second, as of a few hundred clients that poll. */
const PER_SECOND = 100

/** Measures a bulk cancel among many tasks, and how long others wait for a status beside it. */
export const run = async (): Promise<void> =>
  await withServers(async (keep) => {
    const service = keep(await startService({ roles: ['api', 'core'], env: ENV }))
    const tasks = keep(await startTaskClient(service))
    await seed(service.database.sql)
    const known = await tasks.create(await relight())
    const headers = await bearer(service, 'bench')
    const path = `${service.baseUrl}${IMAGE_API}/image-relight/${known}`
    const read = () => callJson(path, { headers })
    const quiet = await readUntil(read, sleep(QUIET_MS))
    const begun = performance.now()
    const beside = await readUntil(read, cancelAll(service))
    const seconds = (performance.now() - begun) / 1000
    const after = await readUntil(read, sleep(QUIET_MS))
    const p99 = { beside: p99Of(beside), quiet: p99Of([...quiet, ...after]) }
    say(`${OPEN} of ${TASKS} tasks cancelled in ${seconds.toFixed(0)} s`)
    say(`p99 of a status: quiet ${p99.quiet.toFixed(1)} ms, beside ${p99.beside.toFixed(1)} ms`)
    showResult('bulk.cancel_seconds', seconds, { unit: 's', atMost: 1800 })
    showResult('bulk.status_p99', p99.beside / p99.quiet, { unit: 'x', atMost: 1.3 })
  })

const p99Of = (times: readonly number[]): number =>
  at(
    times.toSorted((a, b) => a - b),
    0.99,
  )

/** Tasks of many owners that ended long ago, and those of one that wait. They have no workflow. */
const seed = async (sql: Sql): Promise<void> => {
  const created_at = sql`now() - n * interval '1 second'`
  const task = { kind: 'relight', files: [] } as const
  const open = { owner: OWNER, state: 'queued', columns: { created_at } } as const
  await insertTasks(sql, { ...task, ...open, count: OPEN })
  const columns = { created_at, owner: sql`'owner-' || n % 500` }
  const numbers = { first: OPEN + 1, count: TASKS - OPEN }
  await insertTasks(sql, { ...task, state: 'done', ...numbers, columns })
  for (const table of ['task', 'event', 'owner']) await sql`analyze ${sql(table)}`
}

interface Service {
  baseUrl: string
  token(subject: string): Promise<string>
}

const cancelAll = async (service: Service): Promise<void> => {
  const headers = await bearer(service, OWNER)
  const body = { action: 'cancel', filter: {}, all: true }
  const url = `${service.baseUrl}/operations`
  const made = await callJson<{ operation_id: string }>(url, { headers, body })
  for (;;) {
    await sleep(2000)
    const operation = await callJson<{ state: string; counts: { done: number } }>(
      `${url}/${made.operation_id}`,
      { headers },
    )
    if (operation.state !== 'done') continue
    if (operation.counts.done !== OPEN) throw new Error(JSON.stringify(operation))
    return
  }
}

/** Reads at even times until something has happened; returns milliseconds from when each was due. */
const readUntil = async (
  read: () => Promise<unknown>,
  happened: Promise<unknown>,
): Promise<number[]> => {
  const times: number[] = []
  const reads: Promise<void>[] = []
  const state = { isOver: false }
  const over = happened.finally(() => {
    state.isOver = true
  })
  for (let due = performance.now(); !state.isOver; due += 1000 / PER_SECOND) {
    await sleep(Math.max(0, due - performance.now()))
    const from = due
    reads.push(read().then(() => void times.push(performance.now() - from)))
  }
  await Promise.all([over, ...reads])
  return times
}
