import { setTimeout as sleep } from 'node:timers/promises'

import { makeDatabase, type Sql } from '../../src/platform/db/client.ts'
import { PASS } from '../support/link.ts'
import { PATIENT } from '../support/template.ts'
import { MEMBERS, type MemberName, type World } from '../nemesis/world.ts'

/** Breaks something, which is looked at for a while, and mends it. */
export interface Drill {
  name: string
  begin(world: World): Promise<unknown>
  heal(world: World): Promise<unknown>
  /** Length of it; 75 when absent. */
  seconds?: number
}

const alter = async ({ postgres }: World, value: 'on' | 'off'): Promise<void> => {
  const { sql } = postgres.database
  await sql.unsafe(`set default_transaction_read_only = off`)
  await sql.unsafe(`alter system set default_transaction_read_only = ${value}`)
  await sql`select pg_reload_conf()`
}

/** Ends the connections of the processes of ours and takes every one that PostgreSQL gives. */
const takeConnections = async ({ postgres }: World): Promise<Sql[]> => {
  const { database } = postgres
  const own: Sql[] = []
  await database.sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where application_name ~ '^kiln (api|worker)'
  `
  for (;;) {
    const one = makeDatabase({ url: database.url, ...PATIENT, pool: 1 })
    try {
      await one`select 1`
      own.push(one)
    } catch {
      await one.end({ timeout: 0 })
      return own
    }
  }
}

const member = ({ members }: World, name: MemberName) => {
  const found = members.get(name)
  if (!found) throw new Error(`there is no ${name}`)
  return found
}

let taken: Sql[] = []

export const DRILLS: readonly Drill[] = [
  {
    name: 'the disk of the store is full',
    begin: async ({ disk }) => await disk?.fill(),
    heal: async ({ disk }) => await disk?.free(),
  },
  {
    name: 'PostgreSQL restarts',
    begin: async ({ postgres }) => {
      await postgres.server.kill()
      await sleep(5000)
      await postgres.server.restart()
    },
    heal: () => Promise.resolve(),
    seconds: 20,
  },
  {
    name: 'PostgreSQL takes no writes',
    begin: (world) => alter(world, 'on'),
    heal: (world) => alter(world, 'off'),
  },
  {
    name: 'PostgreSQL has no connections left',
    begin: async (world) => (taken = await takeConnections(world)),
    heal: async () => await Promise.all(taken.map((one) => one.end({ timeout: 0 }))),
  },
  {
    name: 'Temporal is away for three minutes',
    begin: ({ links }) => Promise.resolve(links.temporal.set({ name: 'reject' })),
    heal: ({ links }) => Promise.resolve(links.temporal.set(PASS)),
    seconds: 180,
  },
  {
    name: 'both media workers are killed, as for want of memory',
    begin: async (world) => {
      await member(world, 'media-1').kill()
      await member(world, 'media-2').kill()
    },
    heal: async (world) => {
      await member(world, 'media-1').start()
      await member(world, 'media-2').start()
    },
  },
  {
    name: 'an api stands still (SIGSTOP)',
    begin: (world) => Promise.resolve(member(world, 'api-2').entry?.signal('SIGSTOP')),
    heal: (world) => Promise.resolve(member(world, 'api-2').entry?.signal('SIGCONT')),
  },
  {
    name: 'the clock of a core worker and an api is an hour ahead',
    begin: async ({ clocks }) => {
      for (const name of ['core-1', 'api-2']) await clocks?.set(name, '+3600')
    },
    heal: async ({ clocks }) => {
      for (const name of ['core-1', 'api-2']) await clocks?.set(name, '+0')
    },
  },
  {
    name: 'two of each process are rolled under load',
    begin: async (world) => {
      for (const name of MEMBERS) {
        const one = member(world, name)
        const { entry } = one
        entry?.signal('SIGTERM')
        await entry?.end()
        await one.start()
      }
    },
    heal: () => Promise.resolve(),
    seconds: 10,
  },
  {
    name: 'the namespace of Temporal is gone',
    begin: async ({ temporal }) => {
      await temporal.connection.operatorService.deleteNamespace({ namespace: 'default' })
    },
    heal: async ({ temporal, members }) => {
      await temporal.lose()
      // Workers end without their namespace, and whoever runs them starts them again.
      for (const one of members.values())
        if (one.entry?.how() !== undefined) {
          await one.kill()
          await one.start()
        }
    },
  },
]
