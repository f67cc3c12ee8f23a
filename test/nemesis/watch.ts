import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

import { listEngineProcesses } from '../faults/engine-processes.ts'
import { listScratch } from '../faults/scratch.ts'
import { metricsUrl, readMetrics } from '../support/metrics.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import type { Violation } from './ledgers.ts'
import { kindOf } from './faults.ts'
import type { Struck } from './plan.ts'
import { MEMBERS, type Member, type World } from './world.ts'

/** The most memory that a process has had, in MiB; 0 when there is none. */
export const readPeak = async (pid: number): Promise<number> => {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/VmHWM:\s+(\d+) kB/.exec(text)?.[1] ?? 0) / 1024
}

const countConnections = async ({ postgres }: World): Promise<number> => {
  const rows = await postgres.database.sql`
    select from pg_stat_activity where application_name like 'kiln %' and application_name <> 'kiln test'
  `
  return rows.length
}

/** Values by names that say of what and in which unit. */
export type Held = Map<string, number>

const MIB = 2 ** 20

const AGES = {
  outbox: 'kiln_waiting_oldest_seconds{what="outbox"}',
  first_try: 'kiln_waiting_oldest_seconds{what="first_try"}',
  'queue workflow': 'kiln_queue_oldest_seconds{queue="workflow"}',
  'queue media': 'kiln_queue_oldest_seconds{queue="media"}',
}

/** Measures what the first process of each role holds, and what waits. */
export const measure = async (world: World): Promise<Held> => {
  const held: Held = new Map()
  for (const name of MEMBERS.filter((member) => member.endsWith('-1'))) {
    const entry = world.members.get(name)?.entry
    if (!entry) continue
    const read = await readMetrics(entry)
    held.set(`memory of ${name}, MiB`, (read.get('process_resident_memory_bytes') ?? 0) / MIB)
    held.set(`handles of ${name}`, read.get('process_open_fds') ?? 0)
    for (const [what, metric] of Object.entries(AGES)) {
      const age = read.get(metric)
      if (age !== undefined) held.set(`age of ${what}, s`, age)
    }
  }
  held.set('connections', await countConnections(world))
  held.set('children', (await listEngineProcesses(world.service.storagePath)).length)
  held.set('unfinished files', (await listScratch(world.service)).length)
  return held
}

/** Young processes grow, pools keep what they have opened, and children that read archives wait for the next. */
const mayBe = (name: string, base: number): number =>
  name.startsWith('memory') ? base * 2 : name.startsWith('age') ? Infinity : base + 30

/** Finds what is held beyond the base, and is not given back. */
export const compare = (base: Held, now: Held): Violation[] =>
  [...base]
    .filter(([name, before]) => (now.get(name) ?? 0) > mayBe(name, before))
    .map(([name, before]) => ({
      invariant: 'I10',
      what: `${name}: ${before.toFixed()}, then ${now.get(name)?.toFixed()}`,
    }))

/** Result of a check of /ready, with its time. */
interface Check {
  at: number
  down: readonly string[]
}

/** Looks at both apis and at the memory of all, over and over, until it is stopped. */
export const startWatch = (world: World) => {
  const checks: Check[] = []
  let peak = 0
  const over = new AbortController()
  const inspect = async (): Promise<void> => {
    for (const { name, baseUrl, entry } of world.members.values()) {
      peak = Math.max(peak, await readPeak(entry?.pid ?? 0))
      if (!name.startsWith('api')) continue
      const result = await fetch(`${baseUrl}/ready`, { signal: AbortSignal.timeout(PATIENCE_MS) })
        .then(async (response) => (await response.json()) as { checks: Record<string, string> })
        .catch(() => undefined)
      if (result)
        checks.push({
          at: Date.now(),
          down: Object.keys(result.checks).filter((check) => result.checks[check] === 'down'),
        })
    }
    await sleep(300)
  }
  const running = (async () => {
    while (!over.signal.aborted) await inspect()
  })()
  return {
    async stop() {
      over.abort()
      await running
      return { checks, peak }
    },
  }
}

/** The most that /ready may take to report what is away. */
const SIGNS_MS = 5000

/** Faults that lasted long enough for it and that /ready did not report. */
export const checkReady = (struck: readonly Struck[], checks: readonly Check[]): Violation[] =>
  struck
    .filter(({ name, target, begunAt, healedAt }) => {
      const check = kindOf(name).signs?.[target]
      if (check === undefined || healedAt - begunAt < SIGNS_MS) return false
      const during = checks.filter(({ at }) => at > begunAt && at < healedAt + 1000)
      return !during.some(({ down }) => down.includes(check))
    })
    .map(({ name, target }) => ({
      invariant: 'I9',
      what: `/ready did not report ${name} ${target}`,
    }))

/** Reads the metrics of the processes as text. */
export const readMetricTexts = ({ members }: World): Promise<string[]> => {
  const read = async ({ entry }: Member): Promise<string> =>
    entry ? (await fetch(`${metricsUrl(entry)}/metrics`)).text() : ''
  return Promise.all([...members.values()].map(read))
}
