import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { loadavg } from 'node:os'

import { IMAGE_API } from '../test/support/client.ts'
import type { Service } from '../test/support/service.ts'
import type { HttpRequest } from './search/http-client.ts'
import { CONCURRENCIES, measureShape, middle } from './search/measure.ts'
import type { Measured } from './search/measure.ts'
import { showHead, showRow } from './search/report.ts'
import type { Shape } from './search/shapes.ts'
import { makeHttpSide, startBare, tellBare } from './search/sides.ts'
import { startRecorder } from './search/statements.ts'
import { wordOf } from './search/words.ts'
import type { BareTasks } from './support/bare-express.ts'
import { showFigure } from './support/figures.ts'
import { startApi, withRegistry } from './support/registry.ts'
import { startStubTemporal } from './support/stub-temporal.ts'

const NODES = Number(process.env['NODES'] ?? 20_000)
const API = `${IMAGE_API}/skin-enhancer`
const TASKS = 20
const AIM = 0.7

/**
 * The most frequent requests against a bare Express 5 with postgres.js, in a process of its own, that sends the same
 * statements and answers the same JSON: no credential, no schema, no ETag of its own, no limit of anything.
 */
export const run = async (): Promise<void> =>
  await withRegistry(NODES, async (registry) => {
    const temporal = await startStubTemporal()
    const service = await startApi(registry, { TEMPORAL_ADDRESS: temporal.address })
    const stops = [() => service.stop(), async () => temporal.stop()]
    try {
      const { shapes, tasks } = await prepare(service)
      const bare = await startBare(registry.url, tasks)
      stops.push(() => bare.stop())
      const recorder = await startRecorder(registry.url, service.baseUrl)
      stops.push(() => recorder.stop())
      for (const shape of shapes)
        if (shape.name === 'search' || shape.name === 'node')
          await tellBare(bare.baseUrl, recorder, shape)
      await verifySame(service.baseUrl, bare.baseUrl, shapes)
      const sides = { http: makeHttpSide(service.baseUrl), bare: makeHttpSide(bare.baseUrl) }
      showHead(loadavg()[0] ?? 0)
      const all: Measured[] = []
      for (const shape of shapes)
        for (const concurrency of CONCURRENCIES) {
          const measured = await measureShape(shape, concurrency, sides, {
            rounds: 5,
            leastMs: 1_000,
          })
          showRow(measured)
          all.push(measured)
        }
      for (const measured of all) show(measured)
    } finally {
      for (const stop of stops) await stop()
    }
  })

const show = ({ shape, concurrency, http, bare }: Measured): void =>
  showFigure(`http.${shape.name}.${concurrency}`, middle(http, 'rate') / middle(bare, 'rate'), {
    unit: 'x',
    aim: AIM,
    atMost: false,
  })

/** Throws unless the bare server answers reads as the service does. */
const verifySame = async (
  service: string,
  bare: string,
  shapes: readonly Shape[],
): Promise<void> => {
  for (const request of shapes.flatMap(({ requests }) => requests))
    if (request.method === undefined)
      assert.deepEqual(await callJson(bare, request), await callJson(service, request))
}

/** An upload, tasks made of its link, and the requests. */
const prepare = async (service: Service) => {
  const { baseUrl } = service
  const { sql } = service.database
  // Many create tasks: the open ones of an account are counted at each COMMIT.
  const owners = Array.from({ length: 50 }, (_, at) => `bench-${at}`)
  const all = await Promise.all(
    owners.map(async (user) => ({ authorization: `Bearer ${await service.token(user)}` })),
  )
  const [owner = ''] = owners
  const [headers = {}] = all
  const upload = await makeUpload(service, headers)
  const body = JSON.stringify({ image: upload.link })
  const create: HttpRequest = { method: 'POST', path: `${API}/flexible`, headers, body }
  const ids: string[] = []
  for (let task = 0; task < TASKS; task += 1) {
    const { data } = await callJson<{ data: { task_id: string } }>(baseUrl, create)
    ids.push(data.task_id)
  }
  const nodes = await sql<{ id: string }[]>`
    select n.id from node n join node_stats s on s.node_id = n.id and s.listed
    where n.latest_version_id is not null order by md5(n.id) limit 50
  `
  const shapes: Shape[] = [
    {
      name: 'status',
      what: 'status of an image task',
      requests: ids.map((id) => ({ path: `${API}/${id}`, headers })),
    },
    { name: 'list', what: 'own image tasks', requests: [{ path: API, headers }] },
    {
      name: 'search',
      what: 'a search',
      requests: [1, 50, 500, 5_000].map((rank) => ({
        path: `/nodes/search?search=${wordOf(rank)}`,
      })),
    },
    { name: 'node', what: 'one node', requests: nodes.map(({ id }) => ({ path: `/nodes/${id}` })) },
    {
      name: 'creation',
      what: 'creation, link of an upload',
      requests: all.map((headers) => ({ ...create, headers })),
    },
  ]
  return { shapes, tasks: { owner, owners, taskId: ids[0] ?? '', upload } }
}

const makeUpload = async (
  { baseUrl, database: { sql } }: Service,
  headers: Record<string, string>,
): Promise<BareTasks['upload']> => {
  const name = 'portrait.png'
  const links = await callJson<{ upload_url: string; download_url: string }>(baseUrl, {
    method: 'POST',
    path: '/customers/storage',
    headers,
    body: JSON.stringify({ file_name: name, content_type: 'image/png' }),
  })
  const bytes = randomBytes(1_000)
  const digest = createHash('sha256').update(bytes).digest('base64')
  const put = await fetch(links.upload_url, {
    method: 'PUT',
    headers: { 'content-digest': `sha-256=:${digest}:` },
    body: bytes,
  })
  if (!put.ok) throw new Error(`the upload is answered ${await put.text()}`)
  const [row] = await sql<{ id: string; storageKey: string }[]>`
    select id, storage_key as "storageKey" from upload
  `
  if (!row) throw new Error('no upload')
  return { ...row, name, link: links.download_url }
}

const callJson = async <Body>(
  baseUrl: string,
  { method = 'GET', path, headers = {}, body }: HttpRequest,
): Promise<Body> => {
  const type = { 'content-type': 'application/json' }
  const init = { method, headers: { ...headers, ...type }, ...(body !== undefined && { body }) }
  const answer = await fetch(baseUrl + path, init)
  if (!answer.ok) throw new Error(`${path} is answered ${await answer.text()}`)
  return (await answer.json()) as Body
}
