import { createHash, randomBytes, randomUUID } from 'node:crypto'

import { findImageTask, insertImageTask, listImageTasks } from '../src/db/image-task/image-task.ts'
import type { Sql } from '../src/db/client.ts'
import { findFile } from '../src/db/shared/file.ts'
import { insertOutbox } from '../src/db/shared/outbox.ts'
import { startImageTask } from '../src/jobs/image-task.ts'
import { IMAGE_API } from '../test/support/client.ts'
import type { Service } from '../test/support/service.ts'
import { startComparison } from './search/compare.ts'
import type { HttpRequest } from './search/http-client.ts'
import { middle } from './search/measure.ts'
import { shape } from './search/shapes.ts'
import type { Shape } from './search/shapes.ts'
import type { Recorded, Recorder } from './search/statements.ts'
import { wordOf } from './search/words.ts'
import { bearer, callJson } from './support/call.ts'
import { showFigure } from './support/figures.ts'
import type { Keep } from './support/keep.ts'
import { startApi, withRegistry } from './support/registry.ts'
import { startStubTemporal } from './support/stub-temporal.ts'
import { startTaskClient } from './support/task-client.ts'

const NODES = Number(process.env['NODES'] ?? 20_000)
const FAMILY = 'skin-enhancer'
const KIND = 'skin_flexible'
const API = `${IMAGE_API}/${FAMILY}`
const TASKS = 20
const ROUNDS = 5
const AIM = 0.7

/**
 * The most frequent requests against a bare Express 5 with postgres.js, in a process of its own, that sends the same
 * statements and answers the same JSON: no credential, no schema, no ETag of its own, no limit of anything.
 */
export const run = async (): Promise<void> =>
  await withRegistry(NODES, async (keep, registry) => {
    const temporal = keep(await startStubTemporal())
    const service = keep(await startApi(registry, { TEMPORAL_ADDRESS: temporal.address }))
    const { compare, hear } = await startComparison(keep, registry.url, service.baseUrl)
    const shapes = [
      ...(await registryShapes(registry.sql)),
      ...(await taskShapes(keep, service, hear)),
    ]
    const all = await compare(shapes, { rounds: ROUNDS, leastMs: 1_000 })
    for (const { shape, concurrency, http, bare } of all) {
      const rate = middle(http, 'rate') / middle(bare, 'rate')
      const name = `http.${shape.name}.${concurrency}`
      showFigure(name, rate, { unit: 'x', aim: AIM, atMost: false })
    }
  })

const registryShapes = async (sql: Sql): Promise<Shape[]> => {
  const nodes = await sql<{ id: string }[]>`
    select n.id from node n join node_stats s on s.node_id = n.id and s.listed
    where n.latest_version_id is not null order by md5(n.id) limit 50
  `
  const searches = [1, 50, 500, 5_000].map((rank) => `/nodes/search?search=${wordOf(rank)}`)
  const paths = nodes.map(({ id }) => `/nodes/${id}`)
  return [
    shape('search', 'a search', searches.map(toGet)),
    shape('node', 'one node', paths.map(toGet)),
  ]
}

const toGet = (path: string): HttpRequest => ({ path })

/** Requests about tasks, which are made of the link of an upload. */
const taskShapes = async (
  keep: Keep,
  service: Service,
  hear: Recorder['hear'],
): Promise<Shape[]> => {
  const { baseUrl } = service
  // Many create tasks: the open ones of an account are counted at each COMMIT.
  const owners = Array.from({ length: 50 }, (_, at) => `bench-${at}`)
  const all = await Promise.all(owners.map((owner) => bearer(service, owner)))
  const [owner = ''] = owners
  const [headers = {}] = all
  const upload = await makeUpload(service, headers)
  const path = `${API}/flexible`
  const body = { image: upload.link }
  const tasks = keep(await startTaskClient(service))
  const ids: string[] = []
  for (let task = 0; task < TASKS; task += 1) ids.push(await tasks.create({ owner, path, body }))
  /** The statements of a reading request, and the answer of the service. */
  const recordRead =
    (read: (sql: Sql, path: string) => Promise<unknown>) =>
    async ({ path }: HttpRequest): Promise<Recorded> => ({
      statements: await hear((sql) => read(sql, path)),
      status: 200,
      json: await callJson(baseUrl + path, { headers }),
    })
  const reads = ids.map((id) => ({ path: `${API}/${id}`, headers }))
  const sent = { method: 'POST', path, body: JSON.stringify(body) } as const
  const creations = all.map((headers) => ({ ...sent, headers }))
  return [
    {
      ...shape('status', 'status of an image task', reads),
      record: recordRead((sql, path) => {
        const id = path.slice(API.length + 1)
        return findImageTask(sql, { id, owner, kinds: [KIND] })
      }),
    },
    {
      ...shape('list', 'own image tasks', [{ path: API, headers }]),
      record: recordRead((sql) =>
        listImageTasks(sql, { owner, segment: FAMILY, page: 1, perPage: 20 }),
      ),
    },
    {
      ...shape('creation', 'creation, link of an upload', creations),
      record: () => recordCreation(hear, upload, owners),
    },
  ]
}

interface Upload {
  id: string
  name: string
  link: string
  storageKey: string
}

const recordCreation = async (
  hear: Recorder['hear'],
  upload: Upload,
  owners: readonly string[],
): Promise<Recorded> => {
  const [id, owner] = [randomUUID(), randomUUID()]
  return {
    statements: await hear((sql) => findFile(sql, upload)),
    written: await hear((sql) => insertTask(sql, { id, owner, upload })),
    fresh: { id, owner, owners },
    status: 200,
    json: { data: { task_id: id, status: 'CREATED', generated: [] } },
  }
}

const insertTask = async (
  sql: Sql,
  { id, owner, upload }: { id: string; owner: string; upload: Upload },
): Promise<unknown> =>
  await sql.begin(async (sql) => {
    const summary = `${KIND} of a URL`
    const facts = { taskId: id, kind: KIND, owner, summary, hasReceiver: false }
    const timing = { heartbeatSeconds: 1, deadlineSeconds: 60 }
    const unread = { name: null, contentType: null, bytes: null, sha256: null }
    const size = { width: null, height: null }
    const stored = { url: upload.link, storageKey: upload.storageKey }
    const inputs = [{ field: 'image', ...unread, ...size, ...stored }]
    const task = { id, kind: KIND, segment: FAMILY, owner, settings: {}, webhookUrl: null } as const
    const quota = { tasks: 1e6, bytes: 1e12, retentionDays: 30 }
    await Promise.all([
      insertOutbox(sql, startImageTask(facts, { taskQueue: 'none', timing })),
      insertImageTask(sql, { ...task, inputs }, quota),
    ])
  })

const makeUpload = async (
  { baseUrl, database: { sql } }: Service,
  headers: Record<string, string>,
): Promise<Upload> => {
  const name = 'portrait.png'
  const links = await callJson<{ upload_url: string; download_url: string }>(
    `${baseUrl}/customers/storage`,
    { headers, body: { file_name: name, content_type: 'image/png' } },
  )
  const body = randomBytes(1_000)
  const digest = createHash('sha256').update(body).digest('base64')
  const sent = { 'content-digest': `sha-256=:${digest}:` }
  await fetch(links.upload_url, { method: 'PUT', headers: sent, body })
  const [row] = await sql<{ id: string; storageKey: string }[]>`
    select id, storage_key as "storageKey" from upload
  `
  if (!row) throw new Error('no upload')
  return { ...row, name, link: links.download_url }
}
