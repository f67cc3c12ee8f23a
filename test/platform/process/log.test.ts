import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { describe, test } from 'node:test'

import { UPSCALE, expectStatus } from '../../support/client.ts'
import { useCollector } from '../../support/collector.ts'
import { spawnEntry, startEntry, type Entry } from '../../support/entry.ts'
import { listen } from '../../support/network.ts'
import { base64 } from '../../support/pictures.ts'
import { useService } from '../../support/service.ts'
import { BUILTIN, Visitor } from '../../support/sign-in.ts'
import { waitFor } from '../../support/wait.ts'

interface Line extends Record<string, unknown> {
  level: number
  time: number
  msg: string
}

/** Everything that a process has written, each line of which is JSON with its level, time and message. */
const readLines = ({ log }: Entry): Line[] =>
  log.map((text) => {
    const line = parse(text)
    assert.equal(typeof line.level, 'number', text)
    assert.equal(typeof line.time, 'number', text)
    assert.equal(typeof line.msg, 'string', text)
    return line
  })

const parse = (text: string): Line => {
  try {
    return JSON.parse(text) as Line
  } catch {
    assert.fail(`no JSON: ${text}`)
  }
}

const untilLine = (entry: Entry, members: object): Promise<Line> =>
  waitFor(
    () => `a line with ${JSON.stringify(members)} in\n${entry.log.join('\n')}`,
    () =>
      readLines(entry).find((line) =>
        Object.entries(members).every(([name, value]) => line[name] === value),
      ),
  )

/** Has a process write as libraries and Node do once it gets SIGUSR2, and throw once it gets SIGPIPE. */
const NOISE = `
  process.on('SIGUSR2', () => {
    process.emitWarning('a warning of Node')
    console.info('NOTICE: %s', 'a line of a library')
    console.error(new Error('an error of a library'))
  })
  process.on('SIGPIPE', () => { throw new Error('nobody catches this') })
`
const collector = await useCollector()
const TRACED = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '100' }
const NOISY = {
  METRICS_PORT: '0',
  // The client of Temporal then writes a line about each step of its connection.
  GRPC_NODE_VERBOSITY: 'DEBUG',
  GRPC_NODE_TRACE: 'channel',
  NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --import=data:text/javascript,${encodeURIComponent(NOISE)}`,
}

describe('the log', () => {
  const service = useService({ env: { ...NOISY, ...TRACED } })
  const alice = service.client('alice')
  const ended = async (family: string, body: object): Promise<string> => {
    const id = await alice.createImage(body)
    await alice.untilEnded(family, id)
    return id
  }

  for (const role of ['api', 'core', 'media'] as const)
    test(`has as JSON what Node and libraries write in a process ${role}, and why it ends`, async () => {
      const entry = role === 'api' ? (await service.startSecondApi()).entry : service.entry(role)
      await ended('image-upscaler', { image: await base64() })
      entry.signal('SIGUSR2')
      await untilLine(entry, { level: 40, msg: 'a warning of Node' })
      await untilLine(entry, { level: 30, msg: 'NOTICE: a line of a library' })
      await waitFor('the error', () =>
        readLines(entry).some(({ level, msg }) => level === 50 && /an error of a lib/.test(msg)),
      )
      entry.signal('SIGPIPE')
      assert.equal(await entry.end(), '1')
      const last = readLines(entry).at(-1)
      assert.deepEqual([last?.level, last?.msg], [60, 'the process cannot go on'])
      assert.match(JSON.stringify(last?.['err']), /nobody catches this/)
      if (role !== 'api') await service.start(role)
    })

  test('has the lines of gRPC, and those of sign-in with the id of the request', async () => {
    const { entry, baseUrl } = await service.startSecondApi(BUILTIN)
    await waitFor('a line of gRPC', () =>
      readLines(entry).some(({ msg }) => msg.startsWith('D ') && msg.includes('channel')),
    )
    await new Visitor(baseUrl, { 'x-request-id': 'stranger' }).get('/auth/authorize?client_id=no')
    await untilLine(entry, { msg: 'sign-in rejected', request_id: 'stranger' })
    entry.signal('SIGTERM')
    await entry.end()
    readLines(entry)
  })

  for (const [path, args, msg] of [
    ['src/migrate.ts', [], 'search attributes and schedules are in place'],
    [
      'src/operate.ts',
      ['doctor', '--json'],
      'are usable by an api; with WORKER_ROLE a worker, too',
    ],
  ] as const)
    test(`is JSON alone of ${[path, ...args].join(' ')}`, async () => {
      const entry = spawnEntry({
        path,
        args: [...args],
        env: { ...service.settings, AUTH_JWKS_URL: service.settings['AUTH_JWKS_URL'] },
      })
      await entry.end()
      await untilLine(entry, { msg })
      readLines(entry)
    })

  test('has a line with trace and credential for a request that changed something, none for others', async () => {
    const api = service.entry('api')
    const trace = '0af7651916cd43dd8448eb211c80319c'
    const headers = {
      traceparent: `00-${trace}-b7ad6b7169203331-01`,
      'x-request-id': 'changed-1',
      'idempotency-key': 'changed-1',
    }
    const body = { image: await base64() }
    const made = expectStatus(await alice.post(UPSCALE, body, headers), 200)
    const { task_id: taskId } = made.body['data'] as { task_id: string }
    const line = await untilLine(api, { request_id: 'changed-1', msg: 'request changed something' })
    assert.equal(typeof line['ms'], 'number')
    const { method, route, status, subject, task_id, trace_id } = line
    assert.deepEqual(
      { method, route, status, subject, task_id, trace_id },
      {
        method: 'POST',
        route: UPSCALE,
        status: 200,
        subject: 'alice',
        task_id: taskId,
        trace_id: trace,
      },
    )
    const further = (id: string) => ({ ...headers, 'x-request-id': id })
    expectStatus(await alice.post(UPSCALE, body, further('replayed')), 200)
    await alice.post(UPSCALE, {}, { 'x-request-id': 'rejected' })
    await alice.post(`${UPSCALE}?dry_run=true`, body, { 'x-request-id': 'dry' })
    await alice.get('/tasks', { 'x-request-id': 'read' })
    await service.anonymous.get('/tasks', { authorization: 'Bearer x', 'x-request-id': 'stranger' })
    await untilLine(api, { request_id: 'stranger', msg: 'credential rejected' })
    const key = expectStatus(await alice.post('/users/api-keys', { name: 'log' }), 201).body
    const { id, key: secret } = key as unknown as { id: string; key: string }
    const withKey = { 'x-api-key': secret, 'x-request-id': 'by-key' }
    expectStatus(await service.anonymous.post(UPSCALE, body, withKey), 200)
    const byKey = await untilLine(api, {
      request_id: 'by-key',
      msg: 'request changed something',
    })
    assert.deepEqual([byKey['key_id'], byKey['subject']], [id, undefined])
    const unchanged = ['replayed', 'rejected', 'dry', 'read', 'stranger']
    const changes = readLines(api).filter(({ msg }) => msg === 'request changed something')
    assert.ok(!changes.some((line) => unchanged.includes(String(line['request_id']))))
    assert.ok(!api.log.join('\n').includes(secret))
  })

  test('has one line for each task that ended, by its render, a failure or its caller', async () => {
    const media = service.entry('media')
    const done = await ended('image-upscaler', { image: await base64() })
    const { msg: _, ...line } = await untilLine(media, { task_id: done, msg: 'task ended' })
    const { kind, state, code, engine, attempts, activity } = line
    assert.deepEqual(
      { kind, state, code, engine, attempts, activity },
      {
        kind: 'upscale',
        state: 'done',
        code: null,
        engine: 'local',
        attempts: 1,
        activity: 'renderImageTask',
      },
    )
    assert.match(String(line['trace_id']), /^[0-9a-f]{32}$/)
    for (const name of ['seconds_waited', 'seconds_run'])
      assert.ok(Number(line[name]) >= 0 && line[name] !== null, name)

    const failed = await ended('image-upscaler', { image: 'https://127.0.0.1:1/a.png' })
    const failure = await untilLine(service.entry('core'), { task_id: failed, msg: 'task ended' })
    assert.equal(failure['state'], 'failed')
    assert.equal(typeof failure['code'], 'string')

    const later = await alice.createImage({ kiln_start_after: 86_400 })
    expectStatus(await alice.post(`${UPSCALE}/${later}/cancel`, {}), 200)
    const cancelled = await untilLine(service.entry('api'), { task_id: later, msg: 'task ended' })
    assert.deepEqual([cancelled['state'], cancelled['attempts']], ['cancelled', 0])
    const all = ['api', 'core', 'media'] as const
    for (const id of [done, failed, later]) {
      const lines = all.flatMap((role) => readLines(service.entry(role)))
      const ends = lines.filter((line) => line['task_id'] === id && line.msg === 'task ended')
      assert.equal(ends.length, 1, id)
    }
  })
})

describe('the log with LOG_CHANGES=off', () => {
  const service = useService({ env: { LOG_CHANGES: 'off' } })

  test('has no line for requests and ends of tasks', async () => {
    const alice = service.client('alice')
    await alice.untilEnded('image-upscaler', await alice.createImage({ image: await base64() }))
    for (const role of ['api', 'core', 'media'] as const) {
      service.entry(role).signal('SIGTERM')
      await service.entry(role).end()
      const lines = readLines(service.entry(role)).map(({ msg }) => msg)
      assert.ok(lines.includes('stopping'))
      assert.ok(!lines.some((msg) => /task ended|request changed/.test(msg)), lines.join('\n'))
    }
  })
})

describe('an api whose Temporal says nothing', () => {
  const service = useService({ roles: [] })

  test('names its address, and what to do, in place of a deadline', async () => {
    const silent = await listen(createServer(() => {}))
    const address = `127.0.0.1:${silent.port}`
    const entry = await startEntry({
      path: 'src/api.ts',
      readyMessage: 'api ready',
      env: { ...service.settings, TEMPORAL_ADDRESS: address },
    })
    const advice = `Temporal at ${address} does not respond in time: start Temporal, or correct TEMPORAL_ADDRESS`
    const line = await untilLine(entry, { msg: advice })
    assert.match(JSON.stringify(line['err']), new RegExp(`DEADLINE_EXCEEDED: ${advice}`))
    await entry.kill()
    await silent.close()
  })
})
