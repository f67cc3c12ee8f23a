/**
 * Runs `npm run test:system -- drills`: two of each process under a little load, one thing that breaks after the other,
 * and what /ready, metrics, alerts (where Prometheus is installed), logs and the doctor say in the first minute of each,
 * with the second in which they say it; then whether every task ended once. `-- <part of a name>` chooses.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { ROOT } from '../../src/local/root.ts'
import { bundleWorkflows } from '../../src/local/workflow-bundle.ts'
import { inTime } from '../../src/platform/domain/in-time.ts'
import { createSchedules } from '../../src/platform/temporal/schedule.ts'
import { EXTRAS, type Extra } from '../nemesis/extras.ts'
import { startWorld, type World } from '../nemesis/world.ts'
import { operate } from '../faults/operate.ts'
import { IMAGE_API, makeClient } from '../support/client.ts'
import { withKept } from '../support/keep.ts'
import { metricsUrl, readMetrics } from '../support/metrics.ts'
import { base64 } from '../support/pictures.ts'
import { startPrometheus, type Prometheus } from '../support/prometheus.ts'
import { findProgram } from '../support/run-program.ts'
import { waitFor } from '../support/wait.ts'
import { DRILLS, type Drill } from './faults.ts'
import { endGracefully } from './graceful-end.ts'

const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** First second of each thing that is said, in the order in which it is said. */
const makeNotes = (start: number) => {
  const said = new Map<string, string>()
  return {
    note(source: string, text: string): void {
      const key = `${source} ${text}`
      if (said.has(key)) return
      const seconds = ((Date.now() - start) / 1000).toFixed(1).padStart(6)
      said.set(key, `  ${seconds} s  ${source.padEnd(8)} ${text.slice(0, 300)}`)
    },
    print: () => [...said.values()].toSorted().forEach(say),
  }
}

type Notes = ReturnType<typeof makeNotes>

const READ_MS = 2000
/** An alert that waits for a minute fires within it. */
const LOOK_S = 75

const readReady = async (world: World, notes: Notes): Promise<void> => {
  for (const name of ['api-1', 'api-2'] as const) {
    const url = `${world.members.get(name)?.baseUrl}/ready`
    const text = await fetch(url, { signal: AbortSignal.timeout(READ_MS) }).then(
      async (response) => `${response.status} ${response.ok ? '' : await response.text()}`,
      (error: unknown) => String(error),
    )
    notes.note('/ready', `${name} ${text.trim()}`)
  }
}

const readDependencies = async (world: World, notes: Notes): Promise<void> => {
  for (const { name, entry } of world.members.values()) {
    if (!entry) continue
    // One that stands still never responds.
    const metrics = await inTime(readMetrics(entry), READ_MS, name).catch(
      () => new Map<string, number>(),
    )
    for (const [series, value] of metrics)
      if (/^kiln_dependency_up\b/.test(series) && value === 0)
        notes.note('metric', `${name} ${series} 0`)
  }
}

const readLogs = (world: World, from: ReadonlyMap<string[], number>, notes: Notes): void => {
  for (const { name, logs } of world.members.values())
    for (const log of logs)
      for (const line of log.slice(from.get(log) ?? 0)) {
        const { level, msg } = JSON.parse(line) as { level: number | string; msg?: string }
        const isLoud = typeof level === 'number' ? level >= 40 : /warn|error|fatal/.test(level)
        if (isLoud) notes.note('log', `${name.split('-')[0]} ${level}: ${msg}`)
      }
}

/** Sends tasks, one after the other, until it is stopped; an api that cannot take one is asked again with the next. */
const startLoad = async (world: World) => {
  const { service } = world
  const client = makeClient(service.baseUrl, await service.token('dora'))
  const image = await base64()
  const accepted: string[] = []
  const over = new AbortController()
  let rejected = 0
  const work = (async () => {
    while (!over.signal.aborted) {
      await client
        .post(`${IMAGE_API}/image-relight`, { image })
        .then(({ status, body }) =>
          status === 200 ? accepted.push(body.data.task_id) : (rejected += 1),
        )
        .catch(() => (rejected += 1))
      await sleep(1000)
    }
  })()
  return {
    async stop() {
      over.abort()
      await work
      return { accepted, rejected }
    },
  }
}

/** Waits for the end of all; says how many ended how, and how many ended twice. */
const checkEnds = async (world: World, ids: readonly string[]): Promise<boolean> => {
  const { sql } = world.postgres.database
  const open = async () =>
    await sql<{ id: string }[]>`select id from task where id = any(${ids}) and ended_at is null`
  const start = Date.now()
  await waitFor('all tasks have ended', async () => (await open()).length === 0, 300_000)
  const ends = await sql<{ state: string; count: number }[]>`
    select status as state, count(*)::int as count from task where id = any(${ids}) group by status
  `
  const [{ twice } = { twice: 0 }] = await sql<{ twice: number }[]>`
    select count(*)::int as twice from (
      select from event where task_id = any(${ids}) and status in ('COMPLETED', 'FAILED')
      group by task_id, endpoint_id having count(*) > 1
    ) as repeated
  `
  const shown = ends.map(({ state, count }) => `${count} ${state}`).join(', ')
  const seconds = ((Date.now() - start) / 1000).toFixed(0)
  say(`  tasks: ${shown} within ${seconds} s of the mend; ${twice} ended twice`)
  return twice === 0
}

const run = async (
  world: World,
  drill: Drill,
  { prometheus, before }: { prometheus: Prometheus | undefined; before: readonly string[] },
): Promise<boolean> => {
  say(`\n== ${drill.name}`)
  const load = await startLoad(world)
  await sleep(5000)
  const from = new Map(
    [...world.members.values()].flatMap(({ logs }) => logs.map((log) => [log, log.length])),
  )
  const start = Date.now()
  const notes = makeNotes(start)
  const doctor = (async () => {
    await sleep(8000)
    const { output } = await operate(world.service, 'doctor')
    for (const line of output.split('\n'))
      if (!line.startsWith('ok ') && !before.includes(line)) notes.note('doctor', line)
  })()
  const begun = drill.begin(world)
  while (Date.now() - start < Math.min(drill.seconds ?? LOOK_S, LOOK_S) * 1000) {
    await Promise.all([readReady(world, notes), readDependencies(world, notes)])
    readLogs(world, from, notes)
    for (const name of (await prometheus?.firing().catch(() => [])) ?? []) notes.note('alert', name)
    await sleep(500)
  }
  await Promise.all([begun, doctor])
  await sleep(Math.max(0, (drill.seconds ?? LOOK_S) * 1000 - (Date.now() - start)))
  await drill.heal(world)
  notes.print()
  const { accepted, rejected } = await load.stop()
  say(`  accepted ${accepted.length}, not accepted ${rejected}`)
  return await checkEnds(world, accepted)
}

const main = async (chosen: string): Promise<void> => {
  process.env['WORKFLOW_BUNDLE'] = await bundleWorkflows()
  await withKept(async (keep) => {
    const needs = new Set<Extra>()
    for (const name of ['clock', 'disk'] as const) {
      const why = await EXTRAS[name]()
      if (why === undefined) needs.add(name)
      else say(`without ${name}: ${why}`)
    }
    const world = await startWorld(keep, { needs })
    const program = findProgram('prometheus')
    const hosts = (role: string) =>
      [...world.members.values()]
        .filter(({ name }) => name.startsWith(role))
        .flatMap(({ entry }) => (entry ? [new URL(metricsUrl(entry)).host] : []))
    const prometheus =
      program === undefined
        ? undefined
        : keep(
            await startPrometheus({
              program,
              jobs: Object.fromEntries(
                ['api', 'core', 'media'].map((role) => [`kiln-${role}`, hosts(role)]),
              ),
              rules: await readFile(join(ROOT, 'deploy/prometheus/alerts.yml'), 'utf8'),
              intervalSeconds: 5,
            }),
          )
    const schedules = { namespace: 'default', taskQueue: world.service.taskQueue }
    await createSchedules(world.temporal.connection, schedules)
    // The disk of the store is small.
    const before = (await operate(world.service, 'doctor')).output.split('\n')
    for (const drill of DRILLS)
      if (drill.name.includes(chosen) && !(await run(world, drill, { prometheus, before })))
        process.exitCode = 1
    if ('a core worker ends gracefully'.includes(chosen) && !(await endGracefully(world, say)))
      process.exitCode = 1
  })
}

await main(process.argv[2] ?? '')
