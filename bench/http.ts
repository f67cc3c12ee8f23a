import { randomBytes } from 'node:crypto'

import type { Sql } from '../src/platform/db/client.ts'
import { IMAGE_API } from '../test/support/client.ts'
import type { Service } from '../test/support/service.ts'
import { startComparison } from './search/compare.ts'
import { ratio } from './search/measure.ts'
import { listSome, searchWords } from './search/shapes.ts'
import type { Shape } from './search/shapes.ts'
import { askForUpload, bearer, callJson } from './support/call.ts'
import { showResult } from './support/results.ts'
import type { Keep } from '../test/support/keep.ts'
import { startApi, withRegistry } from './support/registry.ts'
import { startStubTemporal } from './support/stub-temporal.ts'
import { startTaskClient } from './support/task-client.ts'

const NODES = Number(process.env['NODES'] ?? 20_000)
const API = `${IMAGE_API}/skin-enhancer`
const TASKS = 20
const ROUNDS = Number(process.env['ROUNDS'] ?? 5)
const LEAST_MS = Number(process.env['LEAST_MS'] ?? 1000)
const AIM = 0.7

/**
 * The most frequent requests against a bare Express 5 with postgres.js, in a process of its own, that sends the same
 * statements and returns the same JSON: no credential, no schema, no ETag of its own, no limit of anything.
 */
export const run = async (): Promise<void> =>
  await withRegistry(NODES, async (keep, registry) => {
    const temporal = keep(await startStubTemporal())
    const service = keep(await startApi(registry, { TEMPORAL_ADDRESS: temporal.address }))
    const { compare } = await startComparison(keep, registry.url, service)
    const shapes = [...(await registryShapes(registry.sql)), ...(await taskShapes(keep, service))]
    for (const measured of await compare(shapes, { rounds: ROUNDS, leastMs: LEAST_MS })) {
      const name = `http.${measured.shape.name}.${measured.concurrency}`
      showResult(name, ratio(measured, 'rate'), { unit: 'x', atLeast: AIM })
    }
  })

const registryShapes = async (sql: Sql): Promise<Shape[]> => {
  const nodes = await listSome(sql, NODES)
  return [
    { name: 'search', requests: searchWords([1, 50, 500, 5_000]) },
    { name: 'node', requests: nodes.map(({ id }) => ({ path: `/nodes/${id}` })) },
  ]
}

/** Requests about tasks, which are made of the link of an upload. */
const taskShapes = async (keep: Keep, service: Service): Promise<Shape[]> => {
  // Many create tasks: the open ones of an account are counted at each COMMIT.
  const owners = Array.from({ length: 50 }, (_, at) => `bench-${at}`)
  const [owner = ''] = owners
  const headers = await bearer(service, owner)
  const upload = await askForUpload(service, headers)
  await callJson(upload.upload_url, { method: 'PUT', body: randomBytes(1_000) })
  const path = `${API}/flexible`
  const body = { image: upload.download_url }
  const tasks = keep(await startTaskClient(service))
  const ids: string[] = []
  for (let task = 0; task < TASKS; task += 1) ids.push(await tasks.create({ owner, path, body }))
  const creations = owners.map(async (owner) => ({
    method: 'POST' as const,
    path,
    headers: await bearer(service, owner),
    body: JSON.stringify(body),
  }))
  return [
    { name: 'status', requests: ids.map((id) => ({ path: `${API}/${id}`, headers })) },
    { name: 'list', requests: [{ path: API, headers }] },
    { name: 'creation', requests: await Promise.all(creations), owners },
  ]
}
