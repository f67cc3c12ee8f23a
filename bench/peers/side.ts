import { makeWebhookSecret } from '../../src/adapters/webhook.ts'
import type { Sql } from '../../src/db/client.ts'
import { findPort } from '../../src/local/port.ts'
import { IMAGE_API } from '../../test/support/client.ts'
import { startEntry } from '../../test/support/entry.ts'
import type { Entry } from '../../test/support/entry.ts'
import { startService } from '../../test/support/service.ts'
import type { Role } from '../../test/support/service.ts'
import { createDatabase } from '../../test/support/stack.ts'
import { bearer, callJson } from '../support/call.ts'
import { makeFolder } from '../support/keep.ts'
import { DEFAULTS } from '../support/settings.ts'
import type { Work } from './kills.ts'
import type { PeerName, PeerOptions } from './queue.ts'
import { CREATE_TABLE, makeQueue } from './task.ts'

/** The service, or a peer: what takes jobs over HTTP, and its processes. */
export interface Side {
  name: string
  /** The processes, the api first. */
  roles: readonly string[]
  /** Gives a job; under the same key it is the same job. Throws when it was not accepted. */
  post(job: { key: string; url: string } & Pick<Work, 'image' | 'prompt'>): Promise<unknown>
  /** Kills a process with SIGKILL and starts it anew at once. */
  restart(role: string): Promise<void>
  /** Renders that were begun again. */
  countRerun(): Promise<number>
  stop(): Promise<void>
}

export const startKiln = async (): Promise<Side> => {
  const service = await startService({ env: DEFAULTS })
  const headers = await bearer(service, 'bench')
  return {
    name: 'kiln',
    roles: ['api', 'core', 'media'] satisfies Role[],
    post: ({ key, image, prompt, url }) =>
      callJson(`${service.baseUrl}${IMAGE_API}/image-relight`, {
        headers: { ...headers, 'idempotency-key': key },
        body: { image, prompt, webhook_url: url },
      }),
    restart: async (role) => {
      await service.entry(role as Role).kill()
      await service.start(role as Role)
    },
    countRerun: () => countAbove(service.database.sql, 'fence', 'task'),
    stop: () => service.stop(),
  }
}

type Peer = Pick<PeerOptions, 'tuned' | 'redisPort'> & { peer: PeerName }

export const startPeer = async ({ peer, tuned, redisPort }: Peer): Promise<Side> => {
  const database = await createDatabase()
  const folder = await makeFolder()
  const port = await findPort()
  const secret = makeWebhookSecret()
  const storagePath = folder.path
  const databaseUrl = database.url
  const options = { peer, tuned, databaseUrl, redisPort, storagePath, port, secret }
  await database.sql.unsafe(CREATE_TABLE)
  await makeQueue(options).prepare()
  const entries = new Map<string, Entry>()
  const start = async (role: string): Promise<void> => {
    const path = 'bench/peers/process.ts'
    const args = [role, JSON.stringify(options)]
    const env = { PATH: process.env['PATH'], NODE_ENV: 'production' }
    entries.set(role, await startEntry({ path, args, readyMessage: 'peer ready', env }))
  }
  const roles = ['api', 'worker']
  await Promise.all(roles.map(start))
  return {
    name: `${peer}${tuned ? '' : ', defaults'}`,
    roles,
    post: ({ key, image, url }) =>
      callJson(`http://127.0.0.1:${port}/tasks`, {
        headers: { 'idempotency-key': key },
        body: { image, url },
      }),
    restart: async (role) => {
      await entries.get(role)?.kill()
      await start(role)
    },
    countRerun: () => countAbove(database.sql, 'runs', 'peer_task'),
    stop: async () => {
      for (const entry of entries.values()) await entry.kill()
      await database.drop()
      await folder.stop()
    },
  }
}

/** How many runs there were beside the first of each task. */
const countAbove = async (sql: Sql, runs: string, table: string): Promise<number> => {
  const rows = await sql`select ${sql(runs)} as runs from ${sql(table)} where ${sql(runs)} > 1`
  return rows.reduce((sum, row) => sum + Number(row['runs']) - 1, 0)
}
