import { readFile, readdir } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

import { listEngineProcesses } from '../faults/engine-processes.ts'
import { metricsUrl } from '../support/metrics.ts'
import type { Violation } from './check.ts'
import { kindOf } from './faults.ts'
import type { Struck } from './plan.ts'
import { MEMBERS } from './world.ts'
import type { World } from './world.ts'

/** What the processes of a role hold, the most that one of them does; and what all have together. */
export interface Held {
  /** Open files and sockets, and bytes, by role. */
  handles: Record<string, number>
  rss: Record<string, number>
  connections: number
  children: number
}

const roleOf = (name: string): string => name.split('-')[0] ?? ''

const readRss = async (pid: number, field: 'VmRSS' | 'VmHWM' = 'VmRSS'): Promise<number> => {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(text)?.[1] ?? 0) * 1024
}

export const countConnections = async ({ postgres }: World): Promise<number> => {
  const rows = await postgres.database.sql`
    select from pg_stat_activity where application_name like 'kiln %' and application_name <> 'kiln test'
  `
  return rows.length
}

/** Linux only. */
export const measure = async (world: World): Promise<Held> => {
  const { members, service } = world
  const handles: Record<string, number> = {}
  const rss: Record<string, number> = {}
  for (const { name, entry } of members.values()) {
    const role = roleOf(name)
    const open = await readdir(`/proc/${entry?.pid}/fd`).catch(() => [])
    handles[role] = Math.max(handles[role] ?? 0, open.length)
    rss[role] = Math.max(rss[role] ?? 0, await readRss(entry?.pid ?? 0))
  }
  const children = await listEngineProcesses(service.storagePath)
  return { handles, rss, connections: await countConnections(world), children: children.length }
}

/** A pool keeps the connections that it has opened, and clients keep some alive: no more than these beyond the base. */
const MAY_KEEP = 30
/** Young processes grow, and pictures are rendered in them. */
const MAY_GROW = 2

/** What is held beyond the base, and is not given back. */
export const compare = (base: Held, now: Held): Violation[] => {
  const left: Violation[] = []
  const tell = (what: string, before: number, after: number, most: number): void => {
    if (after > most) left.push({ invariant: 'I10', what: `${what}: ${before}, then ${after}` })
  }
  for (const role of Object.keys(base.handles)) {
    const [handles = 0, rss = 0] = [base.handles[role], base.rss[role]]
    tell(`handles of ${role}`, handles, now.handles[role] ?? 0, handles + MAY_KEEP)
    tell(`bytes of ${role}`, rss, now.rss[role] ?? 0, rss * MAY_GROW)
  }
  const { length } = MEMBERS
  tell('connections', base.connections, now.connections, Math.max(base.connections, length * 10))
  // One that reads archives waits for the next.
  tell('children', base.children, now.children, Math.max(base.children, length))
  return left
}

/** What a check of /ready said, when. */
interface Look {
  at: number
  down: readonly string[]
}

/** Looks at both apis and at the memory of all, over and over, until it is stopped. */
export const startWatch = (world: World) => {
  const looks: Look[] = []
  let peak = 0
  const over = new AbortController()
  const look = async (): Promise<void> => {
    for (const { name, baseUrl, entry } of world.members.values()) {
      peak = Math.max(peak, await readRss(entry?.pid ?? 0, 'VmHWM'))
      if (!name.startsWith('api')) continue
      const answer = await fetch(`${baseUrl}/ready`, { signal: AbortSignal.timeout(2000) })
        .then(async (response) => (await response.json()) as { checks: Record<string, string> })
        .catch(() => undefined)
      if (answer)
        looks.push({
          at: Date.now(),
          down: Object.keys(answer.checks).filter((check) => answer.checks[check] === 'down'),
        })
    }
    await sleep(300)
  }
  const running = (async () => {
    while (!over.signal.aborted) await look()
  })()
  return {
    async stop() {
      over.abort()
      await running
      return { looks, peak }
    },
  }
}

/** The most that /ready may take to tell of what is away. */
const TELLS_MS = 5000

/** Faults that lasted long enough for it and that /ready did not tell of. */
export const checkReady = (struck: readonly Struck[], looks: readonly Look[]): Violation[] =>
  struck
    .filter(({ name, target, begunAt, healedAt }) => {
      const check = kindOf(name).tells?.[target]
      if (check === undefined || healedAt - begunAt < TELLS_MS) return false
      return !looks.some(
        ({ at, down }) => at > begunAt && at < healedAt + 1000 && down.includes(check),
      )
    })
    .map(({ name, target }) => ({
      invariant: 'I9',
      what: `/ready did not tell of ${name} ${target}`,
    }))

/** What the processes show of themselves. */
export const readMetricTexts = async ({ members }: World): Promise<string[]> =>
  await Promise.all(
    [...members.values()].map(async ({ entry }) =>
      entry ? await (await fetch(`${metricsUrl(entry)}/metrics`)).text() : '',
    ),
  )
