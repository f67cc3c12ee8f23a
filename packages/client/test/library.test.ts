import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'

import { BlobReader, ZipReader } from '@zip.js/zip.js'
import { build } from 'esbuild'

import { packFolder } from '../src/cli/archive.ts'
import { confirmDeletion } from '../src/cli/confirm.ts'
import { whyLeftOut } from '../src/cli/left-out.ts'
import { readFiles } from '../src/cli/run-template.ts'
import { readProject } from '../src/cli/project.ts'
import { makeScreen } from '../src/cli/screen.ts'
import { readServerSentEvents } from '../src/lib/server-sent-events.ts'
import { ArgumentError, KilnError, makeKiln, verifyWebhook } from '../src/index.ts'
import type { NewOperation, Replay } from '../src/index.ts'
import { makeWebhookSecret, signWebhook } from '../../../src/events/adapters/webhook.ts'
import { ROOT } from '../../../src/local/root.ts'
import { makeFolder } from '../../../test/support/folder.ts'
import { holdBody, makeFaultyFetch, reject } from './issues.ts'
import type { OnTheWay } from './issues.ts'

/** Cases that the Python client is tried with, too. */
const readShared = async <T>(name: string): Promise<T> =>
  JSON.parse(await readFile(join(ROOT, 'packages/client/test/shared', name), 'utf8')) as T

interface Webhooks {
  now: number
  cases: {
    name: string
    secrets: string[]
    headers: Record<string, string>
    body: string
    event?: object
    error?: string
  }[]
}
interface Described {
  toml: string
  project?: { publisherId: string | null }
  error?: string
}
const webhooks = await readShared<Webhooks>('webhooks.json')
const projects = await readShared<Described[]>('projects.json')
/** A folder, and which of its files are packed. */
interface Packing {
  files: Record<string, string>
  includes: string[]
  packed: string[]
  /** More that are packed where there is no git, which alone reads a .gitignore. */
  outside_git: string[]
}
const packing = await readShared<Packing>('packed.json')
const TOOLS = { nodeId: 'tools', includes: [] }
const leftOut = await readShared<{ leftOut: string[]; published: string[] }>('left-out.json')

test('the library is less than 15 kB with gzip, and needs nothing of Node', async () => {
  const entryPoints = [join(ROOT, 'packages/client/src/index.ts')]
  const options = { bundle: true, minify: true, format: 'esm', write: false } as const
  // For browsers: an import of Node's modules fails.
  const made = await build({ ...options, entryPoints, platform: 'browser' })
  const size = gzipSync(made.outputFiles[0]?.text ?? '').length
  assert.ok(size > 2_000 && size < 15_000, `${size} bytes`)
})

describe('a webhook', () => {
  const secret = makeWebhookSecret()
  const body = JSON.stringify({ task_id: 'a', status: 'COMPLETED', text: 'ü' })
  test('that the service signed is taken, in every form that a server has it', async () => {
    const signed = { id: 'event', timestamp: Date.now() / 1000, body: Buffer.from(body) }
    const headers: Record<string, string> = {
      ...signWebhook({ ...signed, secrets: [secret] }),
      'webhook-sequence': '3',
    }
    for (const given of [
      { headers, body },
      { headers: new Headers(headers), body: Buffer.from(body) },
    ]) {
      const event = await verifyWebhook<{ status: string }>(secret, given)
      assert.deepEqual([event.id, event.sequence, event.body.status], ['event', 3, 'COMPLETED'])
    }
  })

  test('a webhook secret that is none is an error of the caller, whose message does not have it', async () => {
    for (const secrets of ['whsec_%', `${secret}\n`, '', [], undefined, [undefined]]) {
      const verified = verifyWebhook(secrets as string, { headers: {}, body })
      const error = await verified.catch((thrown: unknown) => thrown)
      assert.ok(error instanceof ArgumentError, String(error))
      assert.match(error.message, /^secrets must/)
      assert.ok(!error.message.includes(secret))
    }
  })

  for (const { name, secrets, headers, body, event, error } of webhooks.cases)
    test(`${error === undefined ? 'is taken' : 'is rejected'} with ${name}, as by the Python client`, async (context) => {
      context.mock.timers.enable({ apis: ['Date'], now: webhooks.now * 1000 })
      const verified = verifyWebhook(secrets, { headers, body })
      if (event === undefined)
        return await assert.rejects(verified, { name: 'WebhookError', code: error })
      const { sentAt, ...rest } = await verified
      assert.deepEqual({ ...rest, sent_at: sentAt.getTime() / 1000 }, event)
    })
})

describe('a call', () => {
  const TASK = { task_id: 't', status: 'COMPLETED', generated: ['https://a.example/1.png'] }
  const response =
    (data: object, headers: Record<string, string> = {}) =>
    () =>
      Promise.resolve(Response.json({ data }, { headers }))
  const make = (...interceptors: Parameters<typeof makeFaultyFetch>) => {
    const { fetch, seen } = makeFaultyFetch(...interceptors)
    const options = { baseUrl: 'http://kiln.test/', retry: { baseMs: 1 }, fetch }
    return { kiln: makeKiln({ ...options, token: () => `token-${seen.length}` }), seen }
  }
  const json = (body: object) => () => Promise.resolve(Response.json(body))
  const pathsOf = (seen: Request[]): string[] => seen.map(({ url }) => new URL(url).pathname)
  const image = 'https://a.example/a.png'

  const files = ['video.mp4', 'cover.jpg', 'video-2.mp4', 'watermarked-2.mp4']
  for (const [family, status, names, expected] of [
    ['image', 'COMPLETED', ['1.png'], [{ url: '1.png' }]],
    [
      'video',
      'success',
      files,
      [
        { url: 'video.mp4', coverUrl: 'cover.jpg' },
        { url: 'video-2.mp4', watermarkedUrl: 'watermarked-2.mp4' },
      ],
    ],
  ] as const)
    test(`a token for one task reads it by the route of all kinds: ${family}`, async () => {
      const results = names.map((name) => ({ name, url: name }))
      const task = { task_id: 't', family, state: 'done', status, results, path: '/proxy' }
      const { fetch, seen } = makeFaultyFetch(
        json(task),
        json(task),
        reject(404, 'not_found'),
        json(task),
      )
      const kiln = makeKiln({ baseUrl: 'http://kiln.test', token: 'kiln_task_a', fetch })
      for (const ref of ['t', { id: 't', path: '/proxy' }]) {
        const read = await kiln.read(ref)
        assert.deepEqual(read, {
          id: 't',
          status,
          path: '/tasks/t',
          state: 'succeeded',
          files: expected,
        })
      }
      // Without a stream it goes on by the status, which is read here, too.
      assert.equal((await kiln.wait({ id: 't', path: '/proxy' })).path, '/tasks/t')
      const path = '/tasks/t'
      assert.deepEqual(pathsOf(seen), [path, path, `${path}/stream`, path])
    })

  test('that cancels returns the task as it is then', async () => {
    const item = { family: 'video', path: '/proxy/vidvendor/tasks/t' }
    const film = { id: 't', state: 'failed', err_code: 'UserCancelled', err_msg: 'It was.' }
    const { kiln, seen } = make(json(item), json({}), json(film))
    const { state, path } = await kiln.cancel('t')
    assert.deepEqual([state, path], ['failed', `${item.path}/creations`])
    assert.deepEqual(pathsOf(seen), ['/tasks/t', `${item.path}/cancel`, `${item.path}/creations`])
  })

  test('that failed says what its engine said, of either family', async () => {
    const error = { code: 'engine_failed', message: 'It failed.', engine_error: 'no face' }
    const { code: err_code, message: err_msg, engine_error } = error
    const film = { id: 't', state: 'failed', err_code, err_msg, engine_error }
    const picture = { data: { task_id: 't', status: 'FAILED', error } }
    const { code, message } = error
    for (const [path, body] of [
      ['/proxy/vidvendor/tasks/t', film],
      ['/proxy/imgvendor/t', picture],
    ] as const) {
      const { kiln } = make(
        json({ family: path.includes('vid') ? 'video' : 'image', path }),
        json(body),
      )
      const task = await kiln.read('t')
      const expected = { code, message, engineError: 'no face' }
      assert.deepEqual(task.state === 'failed' && task.error, expected)
    }
  })

  test('a Date is sent as an instant', async () => {
    const { kiln, seen } = make(response(TASK), response(TASK))
    const kiln_start_after = new Date('2030-01-31T12:30:00+02:00')
    await kiln.relight({ image, kiln_start_after })
    await kiln.templates.createTask('one', { image, kiln_start_after })
    for (const request of seen)
      assert.deepEqual(await request.json(), {
        image,
        kiln_start_after: '2030-01-31T10:30:00.000Z',
      })
  })

  test('a request is sent again with its key, and a fresh token, until an error has passed', async () => {
    const { kiln, seen } = make(
      reject(503, 'busy'),
      reject(429, 'rate_limited'),
      () => Promise.resolve(new Response('<html>', { status: 502 })),
      () => Promise.reject(new TypeError('fetch failed')),
      response(TASK),
    )
    const task = await kiln.relight({ image })
    assert.equal(task.state, 'succeeded')
    const headersOf = (name: string) => seen.map(({ headers }) => headers.get(name))
    assert.equal(new Set(headersOf('idempotency-key')).size, 1)
    assert.match(headersOf('idempotency-key')[0] ?? '', /^[\w-]{36}$/)
    const tokens = [0, 1, 2, 3, 4].map((n) => `Bearer token-${n}`)
    assert.deepEqual(headersOf('authorization'), tokens)
    for (const request of seen) assert.deepEqual(await request.json(), { image })
  })

  test('is not sent again after a rejection, a long Retry-After, or its last attempt', async () => {
    for (const [status, code, sent, headers] of [
      [400, 'validation_failed', 1, {}],
      [429, 'quota_exceeded', 1, {}],
      [500, 'internal_error', 1, {}],
      [429, 'rate_limited', 1, { 'retry-after': '3600' }],
      [503, 'draining', 6, {}],
    ] as const) {
      const { kiln, seen } = make(...Array.from({ length: 9 }, () => reject(status, code, headers)))
      const error = await kiln.relight({ image }).catch((thrown: unknown) => thrown)
      assert.ok(error instanceof KilnError)
      assert.deepEqual([error.code, seen.length], [code, sent])
      assert.equal(error.retryAfterSeconds, Number(code === 'rate_limited') * 3600)
    }
  })

  test('ends as soon as its signal is aborted', async () => {
    const stop = new AbortController()
    const { kiln } = make(() => {
      stop.abort(new Error('enough'))
      return Promise.resolve(new Response('', { status: 503, headers: { 'retry-after': '30' } }))
    }, response(TASK))
    await assert.rejects(kiln.relight({ image }, { signal: stop.signal }), /enough/)
  })

  test('a stream is not opened for a signal that was aborted before', async () => {
    const sent: boolean[] = []
    const send = async ({ signal }: { signal: AbortSignal }): Promise<Response> => {
      sent.push(!signal.aborted)
      throw signal.reason
    }
    const signal = AbortSignal.abort(new Error('gone'))
    const events = readServerSentEvents(send, { lastEventId: undefined, signal })
    await assert.rejects(events.next())
    assert.deepEqual(sent, [false])
  })

  test('a wait reads the status, as often as Retry-After says, where there is no stream', async () => {
    const running = { ...TASK, status: 'IN_PROGRESS', generated: [] }
    const { kiln, seen } = make(
      response(running),
      reject(404, 'not_found'),
      response(running, { 'retry-after': '0', etag: '"1"' }),
      () =>
        Promise.resolve(new Response(undefined, { status: 304, headers: { 'retry-after': '0' } })),
      reject(503, 'unavailable'),
      response(TASK),
    )
    const statuses: string[] = []
    const task = await kiln.relight({ image })
    const ended = await kiln.wait(task, { onProgress: ({ status }) => statuses.push(status) })
    assert.equal(ended.state, 'succeeded')
    assert.deepEqual(statuses, ['IN_PROGRESS', 'COMPLETED'])
    const [, , first, second] = seen
    assert.equal(first?.headers.get('prefer'), 'wait=25')
    assert.equal(second?.headers.get('if-none-match'), '"1"')
  })

  test('a wait reports at once what a task waits for where it reads the status, and each change once', async () => {
    const waiting = (etag: string, waits_for?: string) =>
      response(
        { ...TASK, status: 'CREATED', generated: [], waits_for },
        { etag, 'preference-applied': 'wait=25' },
      )
    const { kiln, seen } = make(
      reject(404, 'not_found'),
      waiting('"1"', 'It is paused.'),
      waiting('"2"', 'It is paused.'),
      waiting('"3"'),
      response({ ...TASK, status: 'FAILED', generated: [] }),
    )
    const reported: unknown[] = []
    const task = { id: 't', path: '/proxy/imgvendor/v1/ai/image-relight/t' }
    await kiln.wait(task, { onProgress: (progress) => reported.push(progress) })
    assert.deepEqual(reported, [
      { status: 'CREATED', waitsFor: 'It is paused.' },
      { status: 'CREATED' },
      { status: 'FAILED' },
    ])
    const known = seen.slice(1).map(({ headers }) => headers.get('if-none-match'))
    assert.deepEqual(known, ['"none"', '"1"', '"2"', '"3"'])
  })

  test('a wait with an option that nothing reads sends nothing, and names the one that was meant', async () => {
    for (const [option, hint] of [
      ['timeout', 'use signal: AbortSignal.timeout(ms)'],
      ['timeoutMs', 'use signal: AbortSignal.timeout(ms)'],
      ['on_progress', 'use onProgress'],
      ['patience', 'use patienceMs'],
      ['x-ray', 'expected signal, patienceMs, onProgress'],
    ]) {
      const { kiln, seen } = make()
      for (const wait of [kiln.wait, kiln.batches.wait, kiln.operations.wait])
        await assert.rejects(wait('t', { [String(option)]: 3 }), {
          name: 'ArgumentError',
          message: `there is no option ${option}: ${hint}`,
        })
      assert.equal(seen.length, 0)
    }
  })

  const WAYS = { stream: 'text/event-stream', waiting: 'wait=25' }
  /** The way of each request: what it says that it is ready to wait for. */
  const waysOf = (seen: readonly Request[]) =>
    seen.map(({ headers }) => {
      const said = `${headers.get('accept')} ${headers.get('prefer')}`
      return Object.entries(WAYS).find(([, word]) => said.includes(word))?.[0] ?? 'plain'
    })
  const running = response({ ...TASK, status: 'IN_PROGRESS' }, { 'retry-after': '0' })
  const cut = () => Promise.reject(new TypeError('terminated'))
  const gateway = (status: number) => () => Promise.resolve(new Response('<html>', { status }))

  test('a wait goes on by the next way after three cuts, and reads plainly at last', async () => {
    const { kiln, seen } = make(running, cut, cut, cut, cut, cut, cut, running, cut, response(TASK))
    assert.equal((await kiln.wait(await kiln.relight({ image }))).state, 'succeeded')
    const [, ...ways] = waysOf(seen)
    const third = (way: string) => [way, way, way]
    assert.deepEqual(ways, ['stream', 'waiting', 'plain'].flatMap(third))
  })

  test('a wait leaves a way for which a proxy says 504, tries a stream of 502 again, and sends a waiting read once', async () => {
    const away = reject(503, 'draining')
    const { kiln, seen } = make(
      running,
      gateway(502),
      gateway(504),
      away,
      gateway(504),
      running,
      response(TASK),
    )
    assert.equal((await kiln.wait(await kiln.relight({ image }))).state, 'succeeded')
    const ways = ['stream', 'stream', 'waiting', 'waiting', 'plain', 'plain']
    assert.deepEqual(waysOf(seen).slice(1), ways)
  })

  test('a wait leaves a stream that is kept back after its first silence', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] })
    const tick = () => setImmediate(() => context.mock.timers.tick(25_000))
    const kept = holdBody('text/event-stream', tick)
    for (const stream of [
      kept,
      async (...args: Parameters<typeof kept>) => {
        await (await kept(...args)).text()
        return new Response()
      },
    ]) {
      const { kiln, seen } = make(running, stream, response(TASK))
      assert.equal((await kiln.wait(await kiln.relight({ image }))).state, 'succeeded')
      assert.deepEqual(waysOf(seen).slice(1), ['stream', 'waiting'])
    }
  })

  test('a signal ends a call whose response has begun and does not come', async () => {
    const publication = { publisherId: 'a', nodeId: 'b', token: 't', archive: new Blob([]) }
    const version = { version: '1' }
    type Client = ReturnType<typeof make>['kiln']
    for (const call of [
      ({ relight }: Client, signal: AbortSignal) => relight({ image }, { signal }),
      ({ read }: Client, signal: AbortSignal) => read('a', { signal }),
      ({ batches }: Client, signal: AbortSignal) => batches.read('a', { signal }),
      ({ registry }: Client, signal: AbortSignal) =>
        registry.publish({ ...publication, version }, { signal }),
    ]) {
      const stop = new AbortController()
      const held = holdBody('application/json', () => stop.abort(new Error('enough')))
      await assert.rejects(call(make(held).kiln, stop.signal), /enough/)
    }
    const stop = new AbortController()
    const held = holdBody('application/json', () => stop.abort(new Error('enough')))
    const { kiln } = make(running, gateway(504), held)
    const task = await kiln.relight({ image })
    await assert.rejects(kiln.wait(task, { signal: stop.signal }), /enough/)
  })

  test('a signal ends every method of the registry', async () => {
    type Registry = ReturnType<typeof make>['kiln']['registry']
    const body = { workflow: {} } as never
    const archive = new Blob([])
    const publication = { publisherId: 'a', nodeId: 'b', token: 't', version: { version: '1' } }
    const calls: {
      [Name in keyof Registry]: (registry: Registry, signal: AbortSignal) => Promise<unknown>
    } = {
      publish: ({ publish }, signal) => publish({ ...publication, archive }, { signal }),
      checkArchive: ({ checkArchive }, signal) => checkArchive(archive, {}, { signal }),
      waitForVerdict: ({ waitForVerdict }, signal) => waitForVerdict('a', '1', { signal }),
      searchNodes: ({ searchNodes }, signal) => searchNodes({}, { signal }),
      editNode: ({ editNode }, signal) => editNode('a', 'b', {}, { signal }),
      editVersion: ({ editVersion }, signal) => editVersion('a', 'b', '1', {}, { signal }),
      deleteVersion: ({ deleteVersion }, signal) => deleteVersion('a', 'b', '1', { signal }),
      resolveWorkflow: ({ resolveWorkflow }, signal) => resolveWorkflow(body, { signal }),
      checkWorkflow: ({ checkWorkflow }, signal) => checkWorkflow(body, { signal }),
      readNode: ({ readNode }, signal) => readNode('a', { signal }),
      listVersions: ({ listVersions }, signal) => listVersions('a', { signal }),
      readVersion: ({ readVersion }, signal) => readVersion('a', '1', { signal }),
      install: ({ install }, signal) => install('a', {}, { signal }),
      listHostNodes: ({ listHostNodes }, signal) => listHostNodes('a', '1', { signal }),
      listReviews: ({ listReviews }, signal) => listReviews('a', {}, { signal }),
      review: ({ review }, signal) => review('a', { stars: 1 }, { signal }),
      readFindings: ({ readFindings }, signal) => readFindings('a', '1', { signal }),
    }
    for (const [name, call] of Object.entries(calls)) {
      const stop = new AbortController()
      const held = holdBody('application/json', () => stop.abort(new Error('enough')))
      await assert.rejects(call(make(held, held).kiln.registry, stop.signal), /enough/, name)
    }
  })

  test('a signal ends a stream that a route has opened', async () => {
    const stop = new AbortController()
    const { kiln } = make(holdBody('text/event-stream', () => stop.abort(new Error('enough'))))
    const asked = kiln.routes.GET('/tasks/stream', { parseAs: 'stream', signal: stop.signal })
    const { data } = await asked
    await assert.rejects((data as ReadableStream).getReader().read(), /enough/)
  })

  test('what a function or a stream of the caller throws comes as it is, after one attempt', async () => {
    const own = new Error('the vault is locked')
    let called = 0
    const fail = () => {
      called += 1
      throw own
    }
    const isOwn = (error: unknown): boolean => error === own
    const { fetch, seen } = makeFaultyFetch()
    const locked = makeKiln({ baseUrl: 'http://kiln.test', token: fail, fetch })
    for (const call of [
      () => locked.relight({ image }),
      () => locked.read('t'),
      () => locked.wait('t'),
      () => locked.batches.results('b').next(),
    ])
      await assert.rejects(call(), isOwn)
    assert.deepEqual([called, seen.length], [4, 0])

    const links = { upload_url: 'http://up.test/1', download_url: image, existing_file: false }
    let sent = 0
    const send: typeof globalThis.fetch = async (input, init) => {
      if (input instanceof Request) return Response.json(links)
      sent += 1
      await new Response(init?.body).arrayBuffer().catch((cause: unknown) => {
        throw new TypeError('fetch failed', { cause })
      })
      return new Response()
    }
    const kiln = makeKiln({ baseUrl: 'http://kiln.test', retry: { baseMs: 1 }, fetch: send })
    const open = () => new ReadableStream({ pull: (out) => out.error(own) })
    await assert.rejects(kiln.upload(fail), isOwn)
    for (const source of [open, open()]) await assert.rejects(kiln.upload(source), isOwn)
    assert.deepEqual([called, sent], [5, 2])
  })

  test('a body that breaks is read again, and a file is asked for once its path is one', async (context) => {
    const folder = await makeFolder(context)
    const broken = (type: string) => () => {
      const body = new ReadableStream({ pull: (out) => out.error(new TypeError('terminated')) })
      return Promise.resolve(new Response(body, { headers: { 'content-type': type } }))
    }
    const { kiln, seen } = make(broken('image/png'), () => Promise.resolve(new Response('whole')))
    await assert.rejects(kiln.save(image, folder), { name: 'ArgumentError' })
    assert.equal(seen.length, 0)
    await kiln.save(image, join(folder, 'a.png'))
    assert.equal(await readFile(join(folder, 'a.png'), 'utf8'), 'whole')
    const checked = { version_free: true }
    const { kiln: checker } = make(broken('application/json'), json(checked))
    assert.deepEqual(await checker.registry.checkArchive(new Blob([])), checked)
  })

  test('a response without a body is one where the platform gives it an empty stream', async () => {
    const { kiln, seen } = make(() => {
      const response = new Response(null, { status: 204 })
      const body = new ReadableStream({ start: (out) => out.close() })
      return Promise.resolve(Object.defineProperty(response, 'body', { value: body }))
    })
    const params = { path: { owner: 'carol' } }
    const { response } = await kiln.routes.DELETE('/admin/owners/{owner}', { params })
    assert.deepEqual([response.status, seen.length], [204, 1])
  })

  test('several files of a run are a list, or an error where one is taken or nobody knows', async () => {
    const list = { type: 'array', items: {} }
    const templates = [{ name: 'one', body: { properties: { image: {}, parts: list } } }]
    const read = async (given: string[], listed: OnTheWay = json({ templates }), name = 'one') =>
      await readFiles({ kiln: make(listed).kiln, signal: AbortSignal.any([]) }, name, given)
    assert.deepEqual(await read(['a.png', 'parts=b', 'parts=c']), {
      image: 'a.png',
      parts: ['b', 'c'],
    })
    assert.deepEqual(await read(['parts=b']), { parts: ['b'] })
    for (const given of [
      ['a.png', 'b.png', 'c.png'],
      ['mask=a', 'mask=b'],
    ])
      await assert.rejects(read(given), /^Error: (image|mask) of one takes one file, got [23]$/)
    const away = reject(400, 'unauthorized')
    assert.deepEqual(await read(['a.png'], away), { image: 'a.png' })
    await assert.rejects(read(['a.png', 'b.png'], away), { code: 'unauthorized' })
    const other = read(['a.png', 'b.png'], undefined, 'ones')
    await assert.rejects(other, /there is no template ones; did you mean one\?/)
  })

  test('the results of a batch go on after a cut from the line where they were', async () => {
    const lines = [0, 1, 2].map((index) => `${JSON.stringify({ index, text: '\u2028' })}\n`)
    const send = (text: string, isCut: boolean) => () => {
      const pieces = [text]
      const pull = (stream: ReadableStreamDefaultController) => {
        const piece = pieces.pop()
        if (piece !== undefined) return stream.enqueue(new TextEncoder().encode(piece))
        return isCut ? stream.error(new TypeError('terminated')) : stream.close()
      }
      return Promise.resolve(new Response(new ReadableStream({ pull })))
    }
    const { kiln, seen } = make(
      cut,
      send(lines.join('').slice(0, -30), true),
      send(lines.join('').slice(0, -1), false),
      send(lines.join(''), false),
    )
    const read: number[] = []
    for await (const { index } of kiln.batches.results('b')) read.push(index)
    assert.deepEqual([read, seen.length], [[0, 1, 2], 4])
    const { kiln: away } = make(...Array.from({ length: 9 }, () => cut))
    await assert.rejects(away.batches.results('b').next(), { code: 'unreachable' })
  })

  test('the path of a file is no image, and a link, Base64 and bytes are', async () => {
    const { kiln, seen } = make(response(TASK), response(TASK))
    for (const path of ['samples/thumbnail.jpg', 'C:\\a.png', './a'])
      await assert.rejects(kiln.relight({ image: path }), /^ArgumentError: image must be a link/)
    assert.equal(seen.length, 0)
    for (const text of ['iVBORw0KGgo=', 'data:image/png;base64,iVBORw0KGgo='])
      await kiln.relight({ image: text })
  })

  test('that waits gives up when the service is away for longer than its patience', async () => {
    const away = Array.from({ length: 99 }, () => () => Promise.reject(new TypeError('gone')))
    const { kiln } = make(response({ ...TASK, status: 'CREATED' }), ...away)
    const task = await kiln.relight({ image })
    await assert.rejects(kiln.wait(task, { patienceMs: 0 }), { code: 'unreachable' })
  })
})

const SECRET = 's3cr3t'

/** Catches what a call of the library throws at once or rejects with. */
const catchArgument = async (call: () => unknown): Promise<ArgumentError> => {
  const error = await Promise.resolve()
    .then(call)
    .catch((thrown: unknown) => thrown)
  assert.ok(error instanceof ArgumentError, String(error))
  assert.ok(!`${error.message}${String(error.cause)}`.includes(SECRET), error.message)
  return error
}

describe('an error of the caller', () => {
  const image = 'https://a.example/a.png'
  const baseUrl = 'http://kiln.test'
  const make = (options: object) => {
    const { fetch, seen } = makeFaultyFetch(() => Promise.resolve(Response.json({})))
    return { kiln: makeKiln({ baseUrl, fetch, ...options }), seen }
  }

  for (const [named, options] of [
    ['token', { token: `${SECRET}\n` }],
    ['token', { token: '' }],
    ['token', { token: null }],
    ['token', { token: `Bearer ${SECRET}` }],
    ['token', { token: `${SECRET}\n${SECRET}` }],
    ['apiKey', { apiKey: `${SECRET}ü` }],
    ['baseUrl', { baseUrl: undefined }],
    ['baseUrl', { baseUrl: '' }],
    ['baseUrl', { baseUrl: 'kiln.test' }],
    ['baseUrl', { baseUrl: 'localhost:8080' }],
    ['baseUrl', { baseUrl: 'ftp://kiln.test' }],
    ['baseUrl', { baseUrl: 'http://kiln.test\n' }],
    ['baseUrl', { baseUrl: `http://a:${SECRET}@kiln.test` }],
    ['baseUrl', { baseUrl: `http://kiln.test?${SECRET}` }],
    ['baseUrl', { baseUrl: 'http://kiln.test:port' }],
  ] as const)
    test(`a malformed ${named} is reported when the client is made: ${JSON.stringify(options)}`, async () => {
      const { message } = await catchArgument(() => make(options))
      assert.match(message, new RegExp(`^${named} must be`))
    })

  test('what becomes a header or an address is checked before it is sent, and not sent again', async () => {
    for (const token of [`${SECRET}\r\n`, undefined]) {
      const { kiln, seen } = make({ token: () => token })
      for (const call of [() => kiln.relight({ image }), () => kiln.read('a')])
        assert.match((await catchArgument(call)).message, /^token must be/)
      assert.equal(seen.length, 0)
    }
    const { kiln, seen } = make({ token: SECRET })
    const publication = { publisherId: 'a', nodeId: 'b', version: { version: '1' } }
    for (const [named, call] of [
      ['idempotencyKey', () => kiln.relight({ image }, { idempotencyKey: '' })],
      ['idempotencyKey', () => kiln.batches.create([], { idempotencyKey: `${SECRET}\n` })],
      [
        'token',
        () => kiln.registry.publish({ ...publication, token: '\n', archive: new Blob([]) }),
      ],
      ['link', () => kiln.download(undefined as unknown as string)],
      ['link', () => kiln.download('file.png')],
      ['a path', () => kiln.read({ id: 'a', path: '@b.test/' })],
      ['an id', () => kiln.read('')],
      ['an id', () => kiln.cancel('..')],
      ['an id', () => kiln.batches.read('.')],
    ] as const)
      assert.match((await catchArgument(call)).message, new RegExp(`^${named} must`))
    assert.equal(seen.length, 0)
  })

  const LINE = '{"path": "/a", "body": {}}'
  const NO_LINES: [bytes: Uint8Array, message: RegExp][] = [
    [Buffer.from(`\uFEFF${LINE}`), /without a byte order mark$/],
    [Buffer.from(`\uFEFF${LINE}`, 'utf16le'), /got UTF-16$/],
    [Buffer.from(LINE, 'utf16le'), /got UTF-16$/],
    [Buffer.from(`\n[${LINE}]`), /got a JSON array$/],
  ]
  for (const [bytes, message] of NO_LINES)
    test(`a file whose requests are no lines is not sent: ${message}`, async () => {
      const { kiln, seen } = make({})
      for (const source of [bytes, new Blob([Buffer.from(bytes)])])
        assert.match((await catchArgument(() => kiln.batches.create(source))).message, message)
      assert.equal(seen.length, 0)
    })

  test('the path of a file is no upload, whose text would be stored in its place', async () => {
    const { kiln, seen } = make({})
    const publication = { publisherId: 'a', nodeId: 'b', token: 't', version: { version: '1' } }
    for (const given of ['photo.png', {}, null, 5])
      for (const [named, call] of [
        ['source', (source: Blob) => kiln.upload(source)],
        ['source', (source: Blob) => kiln.registry.checkArchive(source)],
        ['archive', (archive: Blob) => kiln.registry.publish({ ...publication, archive })],
        ['requests', (requests: Blob) => kiln.batches.create(requests)],
      ] as const) {
        const { message } = await catchArgument(() => call(given as unknown as Blob))
        assert.match(message, new RegExp(`^${named} must be a Blob`))
      }
    assert.equal(seen.length, 0)
    const { kiln: opening } = make({ retry: { baseMs: 1 } })
    const opened = await catchArgument(() => opening.upload((() => 'photo.png') as never))
    assert.match(opened.message, /^source must be a Blob/)
  })

  test('a version named by two dots is no path to the deletion of its node', async () => {
    const { kiln, seen } = make({})
    const path = { publisherId: 'alice', nodeId: 'cup', versionId: '..' }
    const route = '/publishers/{publisherId}/nodes/{nodeId}/versions/{versionId}'
    await catchArgument(() => kiln.routes.DELETE(route, { params: { path } }))
    assert.equal(seen.length, 0)
  })

  test('an empty filter without `all` is one, and so is `all` beside another filter', async () => {
    const { fetch, seen } = makeFaultyFetch(
      () => Promise.resolve(Response.json({ operation_id: 'o' })),
      () => Promise.resolve(Response.json({ dry_run: true, matched: 2 })),
      () => Promise.resolve(Response.json({ operation_id: 'o' })),
    )
    const { operations } = makeKiln({ baseUrl, fetch })
    for (const filter of [{}, { label: undefined }, { label: null }, { q: '' }])
      for (const act of [operations.create, operations.count]) {
        const body = { action: 'delete', filter } as NewOperation
        assert.match((await catchArgument(() => act(body))).message, /^filter must not be empty/)
      }
    const some: NewOperation = { action: 'delete', filter: { state: ['done'] } }
    const rejected = await catchArgument(() => operations.create({ ...some, all: true }))
    assert.match(rejected.message, /^all must be absent/)
    assert.equal(seen.length, 0)
    const everything = { action: 'delete', filter: {}, all: true } as const
    assert.equal(await operations.create(everything), 'o')
    assert.equal(await operations.count(everything), 2)
    assert.equal(await operations.create(some), 'o')
    const sent = await Promise.all(seen.map((request) => request.json()))
    assert.deepEqual(sent, [everything, { ...everything, dry_run: true }, some])
  })
})

test('a response of an earlier request says when, and what became of it', async () => {
  const [created_at, ended_at] = ['2026-01-31T10:00:00.000Z', '2026-01-31T10:00:09.000Z']
  const item = { created_at, state: 'done', ended_at }
  const respond =
    (body: object, headers: Record<string, string> = {}) =>
    () =>
      Promise.resolve(Response.json(body, { headers }))
  const earlier = { 'idempotent-replayed': 'true' }
  const task = { data: { task_id: 't', status: 'CREATED', generated: [] } }
  const { fetch, seen } = makeFaultyFetch(
    respond(task, earlier),
    respond({ ...item, kind: 'relight' }),
    respond(task, earlier),
    reject(404, 'task_not_found'),
    respond(task, earlier),
    respond({ batch_id: 'b' }, earlier),
    respond(item),
    respond({ operation_id: 'o' }, earlier),
    respond(item),
  )
  const kiln = makeKiln({ baseUrl: 'http://kiln.test', fetch })
  const image = 'https://a.example/a.png'
  const key = { idempotencyKey: 'one' }
  assert.deepEqual((await kiln.relight({ image }, key)).replayed, item)
  assert.deepEqual(Object.values((await kiln.relight({ image }, key)).replayed ?? { a: 1 }), [
    undefined,
    undefined,
    undefined,
  ])
  // A key of the client's own is that of an attempt before.
  assert.equal((await kiln.relight({ image })).replayed, undefined)
  const replays: Replay[] = []
  const options = { ...key, onReplayed: (replay: Replay) => void replays.push(replay) }
  assert.equal(await kiln.batches.create([], options), 'b')
  const cancel: NewOperation = { action: 'cancel', filter: { state: ['queued'] } }
  assert.equal(await kiln.operations.create(cancel, options), 'o')
  assert.deepEqual(replays, [item, item])
  const read = seen.filter(({ method }) => method === 'GET').map(({ url }) => new URL(url).pathname)
  assert.deepEqual(read, ['/tasks/t', '/tasks/t', '/batches/b', '/operations/o'])
})

describe('a deletion by the command line', () => {
  const ask = async (
    typed: string | undefined,
    { yes = false, signal = new AbortController().signal } = {},
  ) => {
    const stdin = Object.assign(new PassThrough(), { isTTY: typed !== undefined })
    stdin.end(typed)
    const written: string[] = []
    const stderr = { write: (text: string) => written.push(text) }
    const context = { values: { yes }, screen: { close: () => {} }, signal }
    const asked = confirmDeletion(
      context as never,
      () => ({ what: '116 tasks with all files', word: '116' }),
      { stdin, stderr } as never,
    )
    const error = await asked.then(
      () => '',
      (thrown: Error) => thrown.message,
    )
    return { error, asked: written.join('') }
  }

  test('goes on with --yes, and with the number typed on a terminal', async () => {
    assert.deepEqual(await ask(undefined, { yes: true }), { error: '', asked: '' })
    const { error, asked } = await ask('116\n')
    assert.equal(error, '')
    assert.match(asked, /^116 tasks with all files will be deleted.* Type 116 to go on: $/)
  })

  test('stops where there is no terminal, at another word, and at the end of the input', async () => {
    assert.match((await ask(undefined)).error, /say --yes/)
    for (const typed of ['y\n', '\n', '', '1160\n'])
      assert.match((await ask(typed)).error, /^nothing was deleted/)
    const signal = AbortSignal.abort(new Error('interrupted'))
    assert.equal((await ask('116', { signal })).error, 'interrupted')
  })
})

describe('a pack', () => {
  test('is zipped without secrets, caches, links and what git ignores, and says so', async (context) => {
    const folder = await makeFolder(context, {
      'pyproject.toml': '',
      'nodes/a.py': 'a = 1\n',
      'nodes/__pycache__/a.cpython-312.pyc': '',
      '.env': 'SECRET=1',
      '.env.example': 'SECRET=',
      'models/big.bin': 'large',
      '.gitignore': 'models/\n',
    })
    await promisify(execFile)('git', ['init', '-q'], { cwd: folder })
    await symlink('/etc/passwd', join(folder, 'passwd'))
    const packed = await packFolder(folder, TOOLS)
    context.after(packed.remove)
    const zip = new Blob([await readFile(packed.path)])
    const entries = await new ZipReader(new BlobReader(zip)).getEntries()
    const names = entries.map(({ filename }) => filename)
    assert.deepEqual(names, ['.env.example', '.gitignore', 'nodes/a.py', 'pyproject.toml'])
    assert.deepEqual(packed.leftOut.map(({ path, why }) => `${path}: ${why}`).toSorted(), [
      '.env: secrets',
      '.git: version control',
      'models: ignored by git',
      'nodes/__pycache__: made by tools',
      'passwd: a link',
    ])
    const again = await packFolder(folder, TOOLS)
    context.after(again.remove)
    assert.deepEqual(await readFile(again.path), await readFile(packed.path))
  })

  for (const isRepository of [true, false])
    test(`is zipped with what is included and without what .comfyignore names, ${isRepository ? 'in' : 'outside of'} git`, async (context) => {
      const folder = await makeFolder(context, packing.files)
      const git = (...args: string[]) => promisify(execFile)('git', args, { cwd: folder })
      if (isRepository) await git('init', '-q').then(() => git('add', 'notes.md'))
      const packed = await packFolder(folder, { ...TOOLS, includes: packing.includes })
      context.after(packed.remove)
      const outside = isRepository ? [] : packing.outside_git
      const paths = packed.files.map(({ path }) => path)
      assert.deepEqual(paths, [...packing.packed, ...outside].toSorted())
      assert.deepEqual(packed.included, [{ path: 'web/dist', files: 1 }])
      const named = packed.leftOut.filter(({ why }) => why === 'named in .comfyignore')
      const left = named.map(({ path }) => path).toSorted()
      assert.deepEqual(left, ['docs', 'notes.md', 'web/dist/a.js.map'])
      const message = /includes names dist, of which no file is there/
      await assert.rejects(packFolder(folder, { ...TOOLS, includes: ['dist'] }), { message })
    })

  test('is not zipped where git cannot say what is ignored', async (context) => {
    const files = { 'pack/a.py': '', 'pack/.gitignore': 'a.py\n', '.git': 'gitdir: nowhere\n' }
    const folder = await makeFolder(context, files)
    const message = /^\.gitignore cannot be read by git, .*: fatal: not a git repository/
    await assert.rejects(packFolder(join(folder, 'pack'), TOOLS), { message })
  })

  test('that is itself ignored is zipped without what its own .gitignore names', async (context) => {
    const files = { '.gitignore': 'dist/\n', 'dist/.gitignore': 'b.*\n', 'dist/a.py': '' }
    const folder = await makeFolder(context, { ...files, 'dist/b.py': '', 'dist/c/b.py': '' })
    await promisify(execFile)('git', ['init', '-q'], { cwd: folder })
    const packed = await packFolder(join(folder, 'dist'), TOOLS)
    context.after(packed.remove)
    assert.deepEqual(
      packed.files.map(({ path }) => path),
      ['.gitignore', 'a.py'],
    )
  })

  for (const { toml, project: expected, error } of projects)
    test(`is described by its pyproject.toml, as to the Python client: ${toml.replaceAll(/\s+/g, ' ')}`, async (context) => {
      const folder = await makeFolder(context, { 'pyproject.toml': toml })
      const read = readProject(folder).then(
        (project) => JSON.parse(JSON.stringify(project)) as object,
      )
      if (expected === undefined)
        return await assert.rejects(read, ({ message }: Error) => message.includes(String(error)))
      const { publisherId, ...rest } = expected
      assert.deepEqual(await read, { ...rest, ...(publisherId !== null && { publisherId }) })
    })

  test('a folder without a project is no pack', async (context) => {
    const message = /is no pack: the file .*pyproject\.toml cannot be read/
    await assert.rejects(readProject(await makeFolder(context, {})), message)
  })

  test('names are left out as by the Python client', () => {
    assert.deepEqual(
      leftOut.leftOut.filter((name) => whyLeftOut(name) === undefined),
      [],
    )
    assert.deepEqual(
      leftOut.published.filter((name) => whyLeftOut(name) !== undefined),
      [],
    )
  })
})

test('a bar is drawn on a terminal, lines elsewhere, and secrets nowhere', () => {
  const show = (isTTY: boolean): string => {
    const written: string[] = []
    const err = { isTTY, write: (text: string) => written.push(text) }
    const options = { json: false, quiet: false, secrets: ['hidden'] }
    const screen = makeScreen({ stdout: err, stderr: err } as never, options)
    for (const percent of [1, 3, 50]) screen.show('processing', percent)
    screen.record('the token hidden is good')
    screen.close()
    return written.join('').replaceAll(/  \d\.\d s/g, '')
  }
  assert.match(show(true), /\r.\[2K\[█{12}·{12}\] processing 50 %/)
  assert.equal(show(false), 'processing 1 %\nprocessing 50 %\nthe token … is good\n')
})
