import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { before, describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'

import { parse } from 'yaml'

import { VERSION } from '../../../src/platform/domain/release.ts'
import { makeDependencies } from '../../../src/platform/process/dependencies.ts'
import { makeHealthRoutes } from '../../../src/platform/http/health-routes.ts'
import type { JsonResponse, RouteRequest } from '../../../src/platform/http/route.ts'
import { findPort } from '../../../src/local/port.ts'
import { beatWorker } from '../../../src/tasks/db/worker.ts'
import { DEVELOPMENT_ISSUER } from '../../../src/platform/process/development-issuer.ts'
import { IMAGE_URL, UPSCALE, expectStatus, makeClient, readResponse } from '../../support/client.ts'
import type { TemporalState } from '../../../src/platform/domain/temporal-state.ts'
import type { HttpResponse } from '../../support/client.ts'
import { base64 } from '../../support/pictures.ts'
import { AWAITS_OUTAGE, useService } from '../../support/service.ts'
import { allowConnections, withAdmin } from '../../support/stack.ts'
import { waitFor } from '../../support/wait.ts'

interface Readiness {
  status: 'ready' | 'degraded' | 'unready'
  checks: {
    postgres: string
    temporal: string
    storage: string
    workers: string
    draining: boolean
  }
}

/** The folder of a store is what one test breaks. */
const isBucket = process.env['TEST_S3_FOLDER'] !== undefined

const service = useService({
  roles: ['api'],
  env: {
    ...AWAITS_OUTAGE,
    CONSOLE_CLIENT_ID: 'console',
    CONSOLE_AUTH_PARAMS: 'audience=kiln&resource=a%20b',
    OWNER_CREDIT_LIMIT: '7',
    ADMIN_SUBJECTS: 'root',
  },
})

const get = async (path: string, baseUrl = service.baseUrl): Promise<HttpResponse> =>
  await readResponse(await fetch(baseUrl + path), { method: 'GET', path })

const HEALTHY = { postgres: 'ok', temporal: 'ok', storage: 'ok', workers: 'ok', draining: false }

/** Asks until /ready says so and nothing else; a check that takes a second has failed, which it may on a busy machine. */
const untilReady = async (
  status: Readiness['status'],
  checks: Partial<Readiness['checks']> = {},
  baseUrl?: string,
): Promise<HttpResponse> =>
  await waitFor(`/ready says ${status}`, async () => {
    const response = await get('/ready', baseUrl)
    const expected = { status, checks: { ...HEALTHY, ...checks } }
    return isDeepStrictEqual(response.body, expected) && response
  })

interface Problem {
  dependency: string
  message: string
}

/** Reads what a process cannot use, as the operations page says it. */
const listProblems = async (baseUrl = service.baseUrl): Promise<Problem[]> => {
  const root = makeClient(baseUrl, await service.token('root'))
  const { body } = expectStatus(await root.get('/admin/operations'), 200)
  return body['problems'] as unknown as Problem[]
}

/** Lets a worker live without its process, for as long as the tests take. */
const letWorkerLive = async (): Promise<void> => {
  const worker = { identity: 'core@test:1', role: 'core', slots: { local: 1 } }
  await beatWorker(service.sql, { id: randomUUID(), ...worker })
  await service.sql`update worker set beat_at = now() + interval '1 hour'`
}
before(letWorkerLive)

const createTask = async (baseUrl: string, image = IMAGE_URL): Promise<number> => {
  const client = makeClient(baseUrl, await service.token('alice'))
  return (await client.post(UPSCALE, { image })).status
}

describe('a process that can serve', () => {
  test('is alive and ready, for anybody who asks', async () => {
    const alive = await get('/health')
    assert.deepEqual([alive.status, alive.body], [200, { status: 'ok' }])
    assert.equal((await untilReady('ready')).status, 200)
  })

  test('the service shows pages what they must know of it, to anybody', async () => {
    const { status, body, headers } = await get('/service')
    const { build, limits, ...rest } = body as Record<string, unknown>
    assert.deepEqual([status, headers.get('cache-control')], [200, 'no-cache'])
    assert.match(String(build), /^[0-9a-f]{16}$/)
    assert.deepEqual(rest, {
      version: VERSION,
      issuer: DEVELOPMENT_ISSUER,
      client_id: 'console',
      scopes: 'openid profile email',
      auth_params: { audience: 'kiln', resource: 'a b' },
      samples: false,
      development: false,
      video_auth: 'optional',
      registry_reads: 'public',
    })
    assert.equal((limits as { credits?: number }).credits, 7)
    assert.ok(headers.get('etag'))
  })

  test('describes itself at three addresses, in JSON and in YAML', async () => {
    const [json, plain, yaml] = await Promise.all(
      ['/openapi.json', '/openapi', '/openapi.yml'].map(async (path) => {
        const got = await fetch(service.baseUrl + path)
        assert.equal(got.status, 200)
        return { text: await got.text(), type: got.headers.get('content-type') }
      }),
    )
    assert.equal(json?.type, 'application/json; charset=utf-8')
    assert.deepEqual(plain, json)
    assert.equal(yaml?.type, 'application/yaml')
    assert.match(yaml?.text ?? '', /^openapi: 3\.1\.0\n/)
    assert.deepEqual(parse(yaml?.text ?? ''), JSON.parse(json?.text ?? ''))
  })

  test('checks once for all who ask at once', async () => {
    let asked = 0
    const check = () => Promise.resolve((asked += 1))
    const routes = makeHealthRoutes({
      lifecycle: { state: 'serving' },
      dependencies: makeDependencies({
        postgres: check,
        temporal: check,
        storage: check,
        workers: check,
      }),
    })
    const ready = routes.find(({ path }) => path === '/ready')
    const ask = () => ready?.handler({} as RouteRequest) as Promise<JsonResponse>
    const responses = await Promise.all(Array.from({ length: 100 }, ask))
    assert.ok(responses.every(({ status }) => status === 200))
    assert.equal(asked, 4)
  })
})

test('a process whose namespace is not there is degraded, and says which setting is wrong', async () => {
  const { baseUrl } = await service.startSecondApi({
    TEMPORAL_NAMESPACE: 'nosuch',
    ADMIN_SUBJECTS: 'root',
  })
  assert.equal((await untilReady('degraded', { temporal: 'down' }, baseUrl)).status, 200)
  // On a full machine another probe may be late.
  const problem = await waitFor('it is the only problem', async () => {
    const [first, ...others] = await listProblems(baseUrl)
    return others.length === 0 && first?.dependency === 'temporal' && first
  })
  assert.match(problem.message, / has no namespace nosuch: .* or correct TEMPORAL_NAMESPACE$/)
})

test('a process is degraded while work is open that no worker serves, until one lives', async () => {
  await service.sql`update worker set ended_at = now()`
  assert.equal(await createTask(service.baseUrl), 200)
  await untilReady('degraded', { workers: 'down' })
  const [problem] = await listProblems()
  // Of a role that lives nothing is said.
  await beatWorker(service.sql, { id: randomUUID(), identity: 'c', role: 'core', slots: {} })
  const [mediaAlone] = await waitFor('the core worker is seen', async () => {
    const problems = await listProblems()
    return !problems[0]?.message.includes('no core worker') && problems
  })
  assert.match(
    mediaAlone?.message ?? '',
    /^no worker serves the engine local, and tasks wait: start a media worker \(WORKER_ROLE=media\); the last was \S+ \(until \S+Z\)$/,
  )
  assert.match(
    problem?.message ?? '',
    /^no core worker lives, and work waits; no worker serves the engine local, and tasks wait: start a core worker \(WORKER_ROLE=core\); start a media worker \(WORKER_ROLE=media\)(; the last was .*)?$/,
  )
  await letWorkerLive()
  await untilReady('ready')
  assert.deepEqual(await listProblems(), [])
})

test('a worker that has stopped is no poller any more, though Temporal still names it', async () => {
  const root = makeClient(service.baseUrl, await service.token('root'))
  const listPollers = async (): Promise<string[]> => {
    const { body } = expectStatus(await root.get('/admin/operations'), 200)
    const { queues } = body['temporal'] as unknown as TemporalState
    const media = queues.find(({ name }) => name.endsWith('-media'))
    return media?.pollers.map(({ identity }) => identity) ?? []
  }
  const media = await service.start('media')
  const [poller] = await waitFor('it polls', async () => {
    const pollers = await listPollers()
    return pollers.length > 0 && pollers
  })
  media.signal('SIGTERM')
  assert.equal(await media.end(), '0')
  assert.deepEqual(await listPollers(), [])
  await service.sql`update worker set ended_at = null, beat_at = now() where identity = ${poller ?? ''}`
  assert.deepEqual(await listPollers(), [poller], 'Temporal names it still')
  await service.sql`update worker set ended_at = now() where identity = ${poller ?? ''}`
})

test('a process whose PostgreSQL takes no writes is unready, and serves reads', async () => {
  const isReadOnly = async (value: 'on' | 'off') => {
    const name = new URL(service.database.url).pathname.slice(1)
    await withAdmin(async (admin) => {
      await admin`alter database ${admin(name)} set default_transaction_read_only to ${admin.unsafe(value)}`
      // Sessions of before take writes; those of then are replaced without anybody's doing.
      if (value === 'on')
        await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`
    })
  }
  await isReadOnly('on')
  assert.equal((await untilReady('unready', { postgres: 'down' })).status, 503)
  await waitFor('the cause is said', async () => {
    const [problem] = await listProblems()
    return problem?.message.startsWith(
      'PostgreSQL takes no writes: set default_transaction_read_only',
    )
  })
  await isReadOnly('off')
  await untilReady('ready')
})

test('a process without Temporal is degraded and goes on', async () => {
  const closed = await findPort()
  const { baseUrl } = await service.startSecondApi({
    TEMPORAL_ADDRESS: `127.0.0.1:${closed}`,
    ADMIN_SUBJECTS: 'root',
  })
  assert.equal((await untilReady('degraded', { temporal: 'down' }, baseUrl)).status, 200)
  assert.equal(await createTask(baseUrl), 200)
  assert.equal((await get('/health', baseUrl)).status, 200)
  const root = makeClient(baseUrl, await service.token('root'))
  const { status: seen, body: operations } = await root.get('/admin/operations')
  const { error, ...temporal } = operations['temporal'] as unknown as Record<string, unknown>
  assert.deepEqual([seen, temporal], [200, { reachable: false, queues: [] }])
  assert.match(String(error), /UNAVAILABLE|DEADLINE_EXCEEDED/)
})

describe('a process without its store', { skip: isBucket }, () => {
  test('is degraded until the store is back: only pictures inside a body are 503', async () => {
    await untilReady('ready')
    // A file where the store makes its probe: also what runs as root cannot write there.
    const folder = join(service.storagePath, '.scratch', 'check')
    await rm(folder, { recursive: true, force: true })
    await mkdir(dirname(folder), { recursive: true })
    await writeFile(folder, '')
    assert.equal((await untilReady('degraded', { storage: 'down' })).status, 200)
    assert.equal(await createTask(service.baseUrl), 200)
    await writeFile(join(service.storagePath, 'inputs'), '')
    assert.equal(await createTask(service.baseUrl, await base64()), 503)
    await rm(join(service.storagePath, 'inputs'))
    assert.equal(await createTask(service.baseUrl, await base64()), 200)
    await rm(folder)
    await untilReady('ready')
  })
})

test('a process whose schema is too old is unready until it was migrated', async () => {
  const { sql } = service
  const rows = await sql`delete from migration returning name, checksum`
  assert.equal((await untilReady('unready', { postgres: 'down' })).status, 503)
  await sql`insert into migration ${sql(rows)}`
  await untilReady('ready')
})

test('a process that is asked to stop is unready at once and serves what still comes, but ends the connections', async () => {
  const { baseUrl, entry } = await service.startSecondApi({ DRAIN_DELAY_SECONDS: '300' })
  entry.signal('SIGTERM')
  const { status, headers } = await untilReady('unready', { draining: true }, baseUrl)
  assert.equal(status, 503)
  assert.equal(headers.get('connection'), 'close')
  assert.equal(await createTask(baseUrl), 200)
  const alive = await get('/health', baseUrl)
  assert.deepEqual([alive.status, alive.headers.get('connection')], [200, 'close'])
  const unknown = await get('/nowhere', baseUrl)
  assert.deepEqual([unknown.status, unknown.headers.get('connection')], [404, 'close'])
  entry.signal('SIGTERM')
  assert.equal(await entry.end(), '1')
})

// Last, because nothing can be served afterwards.
test('a process without PostgreSQL is unready, responds with 503 and stays alive', async () => {
  const token = await service.token('alice')
  await untilReady('ready')
  await allowConnections(service.database, false)
  assert.equal((await untilReady('unready', { postgres: 'down' })).status, 503)
  assert.equal((await get('/health')).status, 200)
  const client = makeClient(service.baseUrl, token)
  for (const path of ['', `/${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}`]) {
    const response = expectStatus(await client.get(UPSCALE + path), 503, 'unavailable')
    assert.equal(response.headers.get('retry-after'), '2')
  }
  for (const headers of [{}, { 'idempotency-key': 'down' }])
    assert.equal((await client.post(UPSCALE, { image: IMAGE_URL }, headers)).status, 503)
  await allowConnections(service.database, true)
  await untilReady('ready')
  assert.equal(await createTask(service.baseUrl), 200)
})
