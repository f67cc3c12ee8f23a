import { makeDatabase, type Sql } from '../src/platform/db/client.ts'
import { withServers, type Keep } from '../test/support/keep.ts'
import { startService, type Service } from '../test/support/service.ts'
import { insertTasks } from '../test/support/task-rows.ts'
import { bearer, callJson } from './support/call.ts'
import { at, say, showResult } from './support/results.ts'
import { DEFAULTS } from './support/settings.ts'

/** Tasks of the caller, over a year; as many are of others. */
const TASKS = Number(process.env['TASKS'] ?? 100_000)
const OWNER = 'scale'
const ROUNDS = 30
/** Aim of each read, in milliseconds. */
const AIM_MS = 100

/** Measures what a caller with many tasks does with them by hand. */
export const run = async (): Promise<void> =>
  await withServers(async (keep) => {
    const { service, sql } = await startFull(keep)
    const headers = await bearer(service, OWNER)
    const get = (path: string) => callJson(service.baseUrl + path, { headers })
    for (const [name, path] of Object.entries(READS)) await measure(name, () => get(path))
    say(`${(await sql`select count(*)::integer as rows from usage`)[0]?.['rows']} rows of usage`)
  })

/** A label of a few tasks, of a tenth and of all of them; a report of a year in each form. */
const YEAR = `from=${day(364)}&to=${day(0)}`
const READS = {
  'label.rare': '/tasks?label=batch:7',
  'label.tenth': '/tasks?label=project:p3',
  'label.all': '/tasks?label=env:prod',
  'label.two': '/tasks?label=project:p3&label=batch:63',
  'label.none': '/tasks?label=batch:absent',
  'usage.day': `/usage?by=day&${YEAR}`,
  'usage.kind': `/usage?by=kind&${YEAR}`,
  'usage.project': `/usage?by=label:project&${YEAR}`,
  'usage.batch': `/usage?by=label:batch&${YEAR}`,
}

function day(before: number): string {
  return new Date(Date.now() - before * 86_400_000).toISOString().slice(0, 10)
}

const measure = async (name: string, read: () => Promise<unknown>): Promise<void> => {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now()
    await read()
    times.push(performance.now() - start)
  }
  const sorted = times.toSorted((a, b) => a - b)
  showResult(`scale.${name}`, at(sorted, 0.5), { unit: 'ms', atMost: AIM_MS })
}

/** Starts a service whose database has the tasks of a year, with labels and what they used. */
const startFull = async (keep: Keep): Promise<{ service: Service; sql: Sql }> => {
  const service = keep(await startService({ env: DEFAULTS }))
  const options = { pool: 4, name: 'scale', statementTimeoutMs: 0, byIndex: true }
  const sql = makeDatabase({ url: service.database.url, ...options })
  keep({ stop: () => sql.end() })
  const start = Date.now()
  for (let from = 0; from < 2 * TASKS; from += STEP) await fill(sql, from)
  await sql`vacuum analyze`
  say(`${TASKS} tasks of a year are there, after ${Math.round((Date.now() - start) / 1000)} s`)
  return { service, sql }
}

const STEP = 10_000

/** Adds tasks as their ends leave them: the trigger of an end counts what each has used. */
const fill = async (sql: Sql, from: number): Promise<void> => {
  const owner = sql`case n % 2 when 0 then ${OWNER} else 'other-' || n % 1000 end`
  const made = sql`now() - interval '1 hour' - n * (interval '364 days' / ${2 * TASKS}::integer)`
  const columns = {
    owner,
    created_at: made,
    labels: sql`jsonb_build_object('', ${owner}, 'env', 'prod', 'project', 'p' || n / 2 % 10, 'batch',
      (n / 2 % 1000)::text)`,
    ended_at: sql`null`,
  }
  const count = Math.ceil(Math.min(STEP, 2 * TASKS - from) / KINDS.length)
  for (const [place, kind] of KINDS.entries()) {
    const numbers = { first: from + place, step: KINDS.length, count }
    await insertTasks(sql, { kind, state: 'done', credits: 100, files: [], ...numbers, columns })
  }
  await sql`
    update task set ended_at = claimed_at + make_interval(secs => 1 + random() * 20)
    where ended_at is null
  `
}

/** Kinds of the tasks, by the rest of their numbers. */
const KINDS = ['relight', 'relight', 'upscale', 'text2video'] as const
