/** States beside those of the local engine: work elsewhere, under a pause, a breaker or a quota, of batches and operations. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'

import type { Fragment } from '../../src/platform/db/client.ts'
import { findPort } from '../../src/local/port.ts'
import { ROOT } from '../../src/local/root.ts'
import { IMAGE_API, TEXT, UPSCALE } from '../support/client.ts'
import { startFakeComfy } from '../support/comfyui/fake.ts'
import { findIn } from './release.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { base64, makePicture } from '../support/pictures.ts'
import { makeUpstreamSettings } from '../support/service.ts'
import type { Service } from '../support/service.ts'
import { MP4, creationAt, startFakeUpstream } from '../support/upstream.ts'
import type { Step } from '../support/upstream.ts'
import { waitFor } from '../support/wait.ts'

const RELIGHT = `${IMAGE_API}/image-relight`
const PAUSE = '/admin/pauses/owner:paula'
const BROKEN = 'engine:vendor:image'
const LONG_MS = 4 * PATIENCE_MS
/** Items of the batch and the operation that are half-way. */
const ITEMS = 20
/** Settings by which a core worker takes one item a second. */
export const SLOW_ITEMS = { OVERRIDE_BULK_PAUSE_FACTOR: '100' }

/** True for a release whose processes are all stopped before the migrations: its names of tables are others. */
export const needsStop = (release: string): boolean => !hasMigration(release, '0069_words')

/** Finds by its migrations if a release has something. */
const hasMigration = (release: string, name: '0050_pause' | '0069_words'): boolean =>
  existsSync(
    join(findIn(release, 'src/platform/db/migrations', 'src/db/migrations'), `${name}.sql`),
  )

export type Elsewhere = Awaited<ReturnType<typeof startElsewhere>>

/** Starts an upstream and an instance of ComfyUI that end nothing until they are healed. */
export const startElsewhere = async () => {
  let word = 'processing'
  const create: Step[] = []
  const cover = await makePicture({ format: 'jpeg' })
  const upstream = await startFakeUpstream({
    steps: { create },
    done: (id, base) => ({
      task_id: id,
      // For an engine of images
      status: word,
      generated: [`${base}/files/cover.jpg`],
      // For one of videos
      state: word,
      creations: [creationAt(base)],
    }),
    files: { 'video.mp4': MP4, 'cover.jpg': cover },
  })
  const comfy = await startFakeComfy()
  comfy.hold()
  const { IMAGE_ENGINE, VIDEO_ENGINE, ...addresses } = makeUpstreamSettings(upstream.url, 'key')
  return {
    upstream,
    comfy,
    settings: {
      ...addresses,
      ENGINES: 'upscale:comfyui',
      COMFYUI_URLS: `gpu1=${comfy.url}`,
      COMFYUI_TEMPLATES: join(ROOT, 'deploy/comfyui/templates'),
    },
    /** Settings of an api whose tasks go to the upstream. */
    ofVendor: { IMAGE_ENGINE, VIDEO_ENGINE },
    /** Has the upstream take the next task and say nothing to whoever sends it. */
    hangNext: () => void create.push('hang'),
    heal() {
      word = 'success'
      comfy.release()
    },
    async stop() {
      await Promise.all([upstream.close(), comfy.close()])
    },
  }
}

interface Place {
  service: Service
  /** Addresses of the service and of the receiver of webhooks, for callers. */
  url: string
  webhook: string
  elsewhere: Elsewhere
  release: string
}

export type States = ReturnType<typeof makeStates>

/** Makes what fills the states of a release, and counts in the end what has not become of it what should. */
export const makeStates = ({ service, url, webhook, elsewhere, release }: Place) => {
  const { sql } = service.database
  // A release that has pauses has batches, operations and fleets of ComfyUI.
  const isYoung = hasMigration(release, '0050_pause')
  /** Tasks that each owner has asked for. */
  const asked: Record<string, number> = {}
  let ended: string[] = []
  let hung = ''

  /** Asks for something that makes so many tasks. */
  const call = async (owner: string, to: string, body?: object, tasks = 0, method = 'POST') => {
    asked[owner] = (asked[owner] ?? 0) + tasks
    const authorization = `Bearer ${await service.token(owner)}`
    const headers = { authorization, 'content-type': 'application/json' }
    const response = await fetch(to, { method, headers, body: body ? JSON.stringify(body) : null })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${to}: ${response.status} ${text}`)
    return JSON.parse(text || '{}') as { data: { task_id: string } }
  }
  const makeImages = async (
    owner: string,
    tasks: number,
    { to = url, image }: { to?: string; image?: string } = {},
  ): Promise<string[]> => {
    const body = { image: image ?? (await base64()), webhook_url: webhook }
    const ids: string[] = []
    while (ids.length < tasks) ids.push((await call(owner, to + RELIGHT, body, 1)).data.task_id)
    return ids
  }
  const makeVideo = async (owner: string, to = url): Promise<void> => {
    const video = { model: 'videoq3-pro', prompt: 'a lighthouse', duration: 1 }
    await call(owner, to + TEXT, { ...video, callback_url: webhook }, 1)
  }
  const makeBatch = async (owner: string, path: string, lines: number): Promise<void> => {
    const request = { path, body: { image: await base64() } }
    const requests = Array.from({ length: lines }, () => request)
    await call(owner, `${url}/batches`, { requests, webhook_url: webhook }, lines)
  }
  const untilRows = (least: number, of: Fragment): Promise<true> =>
    waitFor('rows of a state', async () => (await sql`select from ${of}`).count >= least, LONG_MS)
  /** Serves callers whose tasks go to the upstream. */
  const withVendorApi = async (work: (to: string) => Promise<void>): Promise<void> => {
    const port = String(await findPort())
    const api = await service.start('api', { ...elsewhere.ofVendor, PORT: port }, release)
    await work(`http://127.0.0.1:${port}`)
    await api.kill()
  }

  return {
    makeImages,
    /** Makes what goes on when something elsewhere heals, or a pause ends. */
    async fill(): Promise<void> {
      await withVendorApi(async (to) => {
        await makeImages('vera', 2, { to })
        await makeVideo('vera', to)
      })
      await untilRows(3, sql`task where upstream_id is not null`)
      if (!isYoung) return
      // The instance takes two; three are made by a batch, and wait for a place.
      await makeBatch('comfy', UPSCALE, 5)
      await untilRows(1, sql`bulk where total > 0 and next_index = total`)
      await waitFor('prompts', () => elsewhere.comfy.prompted.length === 2)
      await call('root', `${url}/admin/owners/quinn`, { task_limit: 3 }, 0, 'PUT')
      await makeBatch('quinn', UPSCALE, 6)
      await untilRows(1, sql`bulk where owner = 'quinn' and next_index = 3`)
      await call('root', url + PAUSE, { reason: 'unpaid' }, 0, 'PUT')
      await makeImages('paula', 3)
      await makeVideo('paula')
      ended = await makeImages('olga', ITEMS)
      await untilRows(ITEMS, sql`task where owner = 'olga' and ended_at is not null`)
    },
    /** Makes what is half-way just before the release stops. */
    async begin(): Promise<void> {
      elsewhere.hangNext()
      await withVendorApi(async (to) => {
        const [id = ''] = await makeImages('vera', 1, { to })
        await waitFor('a task that hangs', () => elsewhere.upstream.tasks.has(id))
        hung = id
        if (!isYoung) return
        // As three failures in a row would have left it.
        await sql`
          insert into breaker (scope, failures, opened_at, retry_at)
          values (${BROKEN}, 3, clock_timestamp(), clock_timestamp() + interval '1 hour')
        `
        await makeImages('brenda', 3, { to })
      })
      if (!isYoung) return
      await makeBatch('bella', RELIGHT, ITEMS)
      const again = { action: 'run_again', filter: { task_ids: ended } }
      await call('olga', `${url}/operations`, again, ITEMS)
      await untilRows(2, sql`bulk where next_index between 1 and total - 1`)
    },
    async heal(): Promise<void> {
      elsewhere.heal()
      if (!isYoung) return
      await call('root', url + PAUSE, undefined, 0, 'DELETE')
      await sql`update breaker set retry_at = clock_timestamp() where scope = ${BROKEN}`
    },
    /** Counts owners with a task too few or too many, bulks that have not done each item once, and submissions. */
    async countWrong() {
      const owners = await sql<{ owner: string; tasks: number }[]>`
        select owner, count(*)::integer as tasks from task group by owner
      `
      const bulks = await sql`
        select from bulk b
        where state <> 'done' or total = 0 or counts->>'done' <> total::text
          or total <> (select sum(value::integer) from jsonb_each_text(counts))
          or total <> (select count(distinct coalesce(result->>'task_id', task_id::text))
            from bulk_item where bulk_id = b.id)
      `
      const rows = await sql<{ id: string; engine: string }[]>`
        select id, engine from task where engine in ('vendor', 'comfyui')
      `
      // One whose submission had no response when its worker stopped is sent again under its own key: one task there.
      const keys = elsewhere.upstream.asked.flatMap(({ method, headers }) =>
        method === 'POST' ? [String(headers['idempotency-key'])] : [],
      )
      const ofVendor = rows.filter(({ engine }) => engine === 'vendor').map(({ id }) => id)
      const { prompted } = elsewhere.comfy
      const wrong = [
        keys.toSorted().join() !== [...ofVendor, hung].toSorted().join(),
        new Set(prompted).size !== prompted.length,
        prompted.length !== rows.length - ofVendor.length,
      ]
      return {
        'wrong-owners': owners.filter(({ owner, tasks }) => (asked[owner] ?? tasks) !== tasks)
          .length,
        'lost-bulks': bulks.length,
        'wrong-submissions': wrong.filter(Boolean).length,
      }
    },
  }
}
