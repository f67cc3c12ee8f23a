import { setTimeout as sleep } from 'node:timers/promises'

import postgres from 'postgres'

import type { Sql } from '../../src/platform/db/client.ts'
import { endPause, putPause } from '../../src/tasks/db/pause.ts'
import { signalProcess } from '../../src/local/process-table.ts'
import { listEngineProcesses } from '../faults/engine-processes.ts'
import { PASS, type LinkMode } from '../support/link.ts'
import { waitFor } from '../support/wait.ts'
import type { Extra } from './extras.ts'
import { MEMBERS, type Member, type World } from './world.ts'

/** One fault: what is done to whom, so many milliseconds after the beginning, until it heals. */
export interface Fault {
  atMs: number
  forMs: number
  name: FaultName
  target: string
}

export type FaultName = keyof typeof FAULTS

export interface FaultKind {
  /** Weight with which it is drawn. */
  weight: number
  targets: readonly string[]
  /** Longest time until it heals, in milliseconds. */
  maxMs: number
  /** Other targets that it disturbs: no other fault of them is under way. */
  touches?: readonly string[]
  /** Extra that not every run has. */
  needs?: Extra
  /** It may fail what is under way. */
  mayFail?: true
  /** The check of /ready that reports it, by its target. */
  signs?: Record<string, 'postgres' | 'temporal' | 'storage'>
  /** Does it, and returns the function that heals it. */
  inflict(world: World, target: string): Promise<() => Promise<unknown> | void>
}

const member = (world: World, target: string): Member => {
  const found = world.members.get(target)
  if (!found) throw new Error(`there is no process ${target}`)
  return found
}

const link = (world: World, target: string) => {
  const found = world.links[target as keyof World['links']]
  if (!found) throw new Error(`there is no link ${target}`)
  return found
}

const LINKS = ['postgres', 'temporal', 'receiver'] as const

const onLink = (
  weight: number,
  mode: LinkMode,
  { targets = LINKS, ...more }: Partial<FaultKind> = {},
): FaultKind => ({
  weight,
  targets,
  maxMs: 3000,
  inflict: async (world, target) => {
    link(world, target).set(mode)
    return () => link(world, target).set(PASS)
  },
  ...more,
})

const cutting = (how: 'reset' | 'half', weight = 5): FaultKind => ({
  weight,
  targets: LINKS,
  maxMs: 0,
  inflict: async (world, target) => {
    link(world, target).cut(how)
    return () => {}
  },
})

/** Makes a fault of PostgreSQL, by a connection of its own. */
const inPostgres = (
  inflict: (sql: postgres.Sql, target: string, url: string) => ReturnType<FaultKind['inflict']>,
  targets: readonly string[] = ['postgres'],
): FaultKind => ({
  weight: 3,
  targets,
  maxMs: 3000,
  touches: ['postgres'],
  inflict: async ({ postgres: { server } }, target) => {
    const sql = postgres(server.url, { max: 1, onnotice: () => {} })
    // It connects now, while it can.
    await sql`select 1`
    const heal = await inflict(sql, target, server.url)
    return async () => {
      await heal()
      await sql.end({ timeout: 1 })
    }
  },
})

const stepping = (offset: string): FaultKind => ({
  weight: 3,
  targets: MEMBERS,
  maxMs: 6000,
  needs: 'clock',
  inflict: async ({ clocks }, target) => {
    await clocks?.set(target, offset)
    return async () => await clocks?.set(target, '+0')
  },
})

/** PostgreSQL says that a transaction is committed. */
const COMMITTED = Buffer.from('COMMIT\0')
const isCommit = (response: Buffer): boolean => response.includes(COMMITTED)

/** The order in which all are started after the machine was. */
const ORDERS = [
  'postgres temporal members',
  'temporal postgres members',
  'members postgres temporal',
  'members temporal postgres',
] as const

/** Unix milliseconds of the clock of the database. */
const readClock = async (sql: Sql): Promise<number> => {
  const [row] = await sql<{ at: number }[]>`
    select extract(epoch from clock_timestamp())::float8 * 1000 as at
  `
  return row?.at ?? NaN
}

export const FAULTS = {
  kill: {
    weight: 30,
    targets: MEMBERS,
    maxMs: 1000,
    inflict: async (world, target) => {
      const killed = member(world, target)
      await killed.kill()
      return async () => await killed.start()
    },
  },
  stop: {
    weight: 10,
    targets: MEMBERS,
    maxMs: 6000,
    inflict: async (world, target) => {
      const { entry } = member(world, target)
      entry?.signal('SIGSTOP')
      return () => entry?.signal('SIGCONT')
    },
  },
  'kill-server': {
    weight: 10,
    targets: ['postgres', 'temporal'],
    maxMs: 2000,
    signs: { postgres: 'postgres', temporal: 'temporal' },
    inflict: async (world, target) => {
      const { server } = target === 'postgres' ? world.postgres : world.temporal
      await server.kill()
      return async () => await server.restart()
    },
  },
  /** An admin pauses what begins. */
  pause: {
    weight: 5,
    targets: ['all', 'engine:local', 'kind:upscale', 'kind:text2video'],
    maxMs: 4000,
    touches: ['postgres'],
    inflict: async ({ postgres: { database }, pauses }, scope) => {
      const { sql } = database
      const pause = { scope, reason: undefined, until: undefined, by: 'nemesis' }
      await sql.begin((sql) => putPause(sql, pause))
      const from = await readClock(sql)
      return async () => {
        pauses.push({ scope, from, to: await readClock(sql) })
        await sql.begin((sql) => endPause(sql, scope))
      }
    },
  },
  /** Everything at once. */
  machine: {
    weight: 1,
    targets: ORDERS,
    maxMs: 2000,
    touches: [...MEMBERS, ...LINKS],
    inflict: async ({ members, postgres, temporal }, order) => {
      const parts: Record<string, () => Promise<unknown>> = {
        postgres: () => postgres.server.restart(),
        temporal: () => temporal.server.restart(),
        members: () => Promise.all([...members.values()].map((one) => one.start())),
      }
      const all = [...members.values(), postgres.server, temporal.server]
      await Promise.all(all.map((one) => one.kill()))
      return async () => {
        const starting: Promise<unknown>[] = []
        for (const part of order.split(' ')) {
          starting.push(parts[part]?.() ?? Promise.resolve())
          await sleep(500)
        }
        await Promise.all(starting)
      }
    },
  },
  /** Children of media workers, the first that there are. */
  'kill-engine': {
    weight: 5,
    targets: ['engine'],
    maxMs: 0,
    mayFail: true,
    inflict: async ({ service }) => {
      const find = async () => {
        const pids = await listEngineProcesses(service.storagePath)
        return pids.length > 0 && pids
      }
      for (const pid of await waitFor('a child', find, 5000).catch(() => []))
        signalProcess(pid, 'SIGKILL')
      return () => {}
    },
  },
  reset: cutting('reset'),
  'half-close': cutting('half'),
  delay: onLink(5, { name: 'delay', ms: 200 }),
  'black-hole': onLink(5, { name: 'hold' }),
  reject: onLink(5, { name: 'reject' }),
  drip: onLink(3, { name: 'drip', bytes: 64, everyMs: 20 }),
  /** Done, and reported as failed. */
  'lose-commits': onLink(10, { name: 'lose', isIt: isCommit }, { targets: ['postgres'] }),
  /** The same, of one write of Temporal in a hundred. */
  'lose-writes': onLink(
    1,
    { name: 'lose', isIt: (response) => isCommit(response) && Math.random() < 0.01 },
    { targets: ['temporal-store'], maxMs: 60_000, needs: 'temporal-store' },
  ),
  's3-away': onLink(10, { name: 'reject' }, { targets: ['s3'], needs: 's3' }),
  's3-silent': onLink(10, { name: 'hold' }, { targets: ['s3'], needs: 's3' }),
  's3-slow': onLink(5, { name: 'drip', bytes: 512, everyMs: 50 }, { targets: ['s3'], needs: 's3' }),
  's3-lost': onLink(10, { name: 'lose', isIt: () => true }, { targets: ['s3'], needs: 's3' }),
  /** Its keys cannot be fetched while an api starts, which has none yet. */
  'issuer-away': {
    weight: 3,
    targets: ['api-1', 'api-2'],
    maxMs: 3000,
    touches: ['issuer'],
    inflict: async (world, target) => {
      world.links.issuer.set({ name: 'reject' })
      await member(world, target).kill()
      await member(world, target).start()
      return () => world.links.issuer.set(PASS)
    },
  },
  'names-silent': {
    weight: 3,
    targets: ['names'],
    maxMs: 6000,
    inflict: async ({ named }) => {
      named.setSilent(true)
      return () => named.setSilent(false)
    },
  },
  'lock-table': inPostgres(
    async (sql, table) => {
      await sql`begin`
      await sql`lock table ${sql(table)} in access exclusive mode`
      return async () => await sql`rollback`
    },
    ['task', 'event', 'outbox'],
  ),
  'read-only': inPostgres(async (sql) => {
    await sql`alter system set default_transaction_read_only = on`
    await sql`select pg_reload_conf()`
    return async () => {
      await sql`alter system reset default_transaction_read_only`
      await sql`select pg_reload_conf()`
    }
  }),
  /** Others have all connections, those that processes of ours had among them. */
  'use-up-connections': inPostgres(async (sql, _target, url) => {
    const take = async (): Promise<boolean> => {
      const one = postgres(url, { max: 1, connection: { application_name: 'greedy' } })
      return await one`select 1`.then(
        () => true,
        () => false,
      )
    }
    const takeAll = async (): Promise<void> => {
      while ((await Promise.all(Array.from({ length: 20 }, take))).every(Boolean));
    }
    await takeAll()
    const terminate = async (like: string) =>
      await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where application_name like ${like} and application_name <> 'kiln test'
    `
    await terminate('kiln %')
    await takeAll()
    return async () => await terminate('greedy')
  }),
  'fill-disk': {
    weight: 3,
    targets: ['disk'],
    maxMs: 1000,
    needs: 'disk',
    mayFail: true,
    signs: { disk: 'storage' },
    inflict: async ({ disk }) => {
      await disk?.fill()
      return async () => await disk?.free()
    },
  },
  'clock-ahead': stepping('+2h'),
  'clock-back': stepping('-2h'),
} satisfies Record<string, FaultKind>

/** A kind by its name, with what only some have. */
export const kindOf = (name: FaultName): FaultKind => FAULTS[name]
