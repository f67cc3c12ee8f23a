import { makeDatabase, type Sql } from '../src/db/client.ts'
import { withServers, type Keep } from '../test/support/keep.ts'
import { startService, type Service } from '../test/support/service.ts'
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
export const startFull = async (keep: Keep): Promise<{ service: Service; sql: Sql }> => {
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

/** Adds tasks as their ends leave them: the trigger counts what each has used. */
const fill = async (sql: Sql, from: number): Promise<void> => {
  const to = Math.min(from + STEP, 2 * TASKS)
  await sql.begin(async (sql) => {
    await sql`set local kiln.most_tasks = ''`
    // Of the insert no trigger is due.
    await sql`set local session_replication_role = replica`
    await sql`
      insert into task (id, family, kind, segment, owner, account, status, settings, last_sequence,
        created_at, last_moved_at, claimed_at, credits, labels, tries)
      select md5('scale ' || n)::uuid, case n % 4 when 3 then 'video' else 'image' end,
        case n % 4 when 3 then 'text2video' when 2 then 'upscale' else 'relight' end,
        case n % 4 when 3 then 'text2video' when 2 then 'image-upscaler' else 'image-relight' end,
        owner, owner, case n % 4 when 3 then 'processing' else 'IN_PROGRESS' end, '{}', 3,
        made, made, made + interval '2 seconds', case n % 4 when 3 then 100 else 0 end,
        jsonb_build_object('', owner, 'env', 'prod', 'project', 'p' || n / 2 % 10, 'batch',
          (n / 2 % 1000)::text),
        jsonb_build_array(jsonb_build_object('n', 1, 'at', made + interval '2 seconds'))
      from (
        select n, case n % 2 when 0 then ${OWNER} else 'other-' || n % 1000 end as owner,
          now() - interval '1 hour' - n * (interval '364 days' / ${2 * TASKS}::integer) as made
        from generate_series(${from}::integer, ${to - 1}::integer) n
      ) given
    `
    await sql`set local session_replication_role = origin`
    await sql`
      update task set ended_at = claimed_at + make_interval(secs => 1 + random() * 20),
        status = case family when 'video' then 'success' else 'COMPLETED' end
      where ended_at is null
    `
  })
}
