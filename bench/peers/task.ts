import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'

import { Agent } from 'undici'
import { Value } from 'typebox/value'

import { makeLocalImageEngine } from '../../src/adapters/image-engine/local.ts'
import { makeLocalStorage } from '../../src/adapters/storage/local.ts'
import { makeDatabase } from '../../src/db/client.ts'
import { IMAGE_KINDS } from '../../src/domain/image-task/image-kind.ts'
import type { ImageSettings } from '../../src/domain/image-task/image-kind.ts'
import { postSigned } from '../support/told.ts'
import { makeBullQueue } from './bullmq.ts'
import { makeGraphileQueue } from './graphile-worker.ts'
import { makePgBossQueue } from './pg-boss.ts'
import { CONCURRENCY } from './queue.ts'
import type { PeerName, PeerOptions, PeerQueue } from './queue.ts'

const MAKERS: Record<PeerName, (options: PeerOptions) => PeerQueue> = {
  'graphile-worker': makeGraphileQueue,
  'pg-boss': makePgBossQueue,
  bullmq: makeBullQueue,
}

export const makeQueue = (options: PeerOptions): PeerQueue => MAKERS[options.peer](options)

/** The rows that readers of a peer's api would see. */
export const CREATE_TABLE = `
  create table peer_task (
    id uuid primary key, url text not null, status text not null default 'CREATED',
    runs integer not null default 0, created_at timestamptz not null default now(),
    ended_at timestamptz, told_at timestamptz
  )`

const SETTINGS = Value.Default(IMAGE_KINDS.relight.settings, {}) as ImageSettings
const MAX_BYTES = 1e8
const MAX_PIXELS = 1e8

/**
 * The same job as an image task of the service, with its engine, its store and its signatures: accepted with one commit
 * after its input is on the disk, claimed, rendered, stored with fsync, ended in one commit together with the job that
 * tells its receiver.
 */
export const makeTasks = (options: PeerOptions, queue: PeerQueue) => {
  const sql = makeDatabase({
    url: options.databaseUrl,
    pool: 10,
    name: 'peer',
    statementTimeoutMs: 10_000,
  })
  const storage = makeLocalStorage({ root: options.storagePath })
  const engine = makeLocalImageEngine({ maxPixels: MAX_PIXELS })
  const agent = new Agent({ connections: CONCURRENCY.tell })

  const accept = async (id: string, { image, url }: { image: string; url: string }) => {
    const bytes = Buffer.from(image, 'base64')
    await storage.putStream(`inputs/${id}`, Readable.from([bytes]), { maxBytes: MAX_BYTES })
    await queue.commit(
      sql,
      async (sql) => {
        const { count } = await sql`
          insert into peer_task (id, url) values (${id}, ${url}) on conflict do nothing
        `
        return count > 0
      },
      { name: 'render', id },
    )
  }

  const render = async (id: string): Promise<void> => {
    const [claimed] = await sql<{ runs: number }[]>`
      update peer_task set runs = runs + 1, status = 'IN_PROGRESS'
      where id = ${id} and ended_at is null returning runs
    `
    if (claimed) await makeResult(id, claimed.runs)
    await queue.commit(
      sql,
      async (sql) => {
        const { count } = await sql`
          update peer_task set status = 'COMPLETED', ended_at = now()
          where id = ${id} and ended_at is null
        `
        return count > 0
      },
      { name: 'tell', id },
    )
  }

  const makeResult = async (id: string, run: number): Promise<void> => {
    const scratchDir = join(await storage.scratchDir('render'), `${id}-${run}`)
    await mkdir(scratchDir)
    const path = join(scratchDir, 'input')
    await storage.fetchToFile(`inputs/${id}`, path)
    const job = { taskId: id, kind: 'relight', settings: SETTINGS, inputs: { image: { path } } }
    const control = { signal: new AbortController().signal, onProgress: () => {} }
    for (const image of await engine.render({ ...job, kind: 'relight', scratchDir }, control))
      await storage.putFile(`results/${id}/${run}/result.${image.extension}`, image.path)
    await rm(scratchDir, { recursive: true })
  }

  const tell = async (id: string): Promise<void> => {
    const [task] = await sql<{ url: string; status: string }[]>`
      select url, status from peer_task where id = ${id} and told_at is null
    `
    if (!task) return
    await postSigned(agent, { ...task, taskId: id, secret: options.secret })
    await sql`update peer_task set told_at = now() where id = ${id}`
  }
  return { accept, render, tell }
}
