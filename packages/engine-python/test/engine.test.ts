import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, test } from 'node:test'

import { ROOT } from '../../../src/local/root.ts'
import { PYTHON, WITHOUT_PYTHON as skip } from '../../../test/support/python.ts'
import { heldUntil, inTurn, respond, useWebhookReceiver } from '../../../test/support/receiver.ts'
import { use } from '../../../test/support/use.ts'
import { makeLatch, waitFor } from '../../../test/support/wait.ts'

const FOLDER = join(ROOT, 'packages/engine-python')
const ENV = {
  ...process.env,
  PYTHONPATH: join(FOLDER, 'src'),
  PYTHONDONTWRITEBYTECODE: '1',
  NO_PROXY: '*',
}

interface Ended {
  code: number
  stdout: string
  stderr: string
}

/** Runs `python -m kiln_engine` to its end. */
const run = async (...args: string[]): Promise<Ended> =>
  await new Promise((resolve) => {
    const options = { cwd: join(FOLDER, 'test'), env: ENV }
    execFile(String(PYTHON), ['-m', 'kiln_engine', ...args], options, (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), stdout, stderr })
    })
  })

const startEngine = async (...args: string[]) => {
  const command = ['-m', 'kiln_engine', ...args, '--port', '0']
  const child = spawn(String(PYTHON), command, {
    cwd: join(FOLDER, 'test'),
    env: ENV,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  const url = line.replace('Listening on ', '')
  return {
    url,
    child,
    ask: async (route: string, body?: unknown, headers: Record<string, string> = {}) => {
      const [method, path] = route.split(' ')
      const init: RequestInit = { headers: { 'content-type': 'application/json', ...headers } }
      if (body !== undefined) init.body = typeof body === 'string' ? body : JSON.stringify(body)
      const response = await fetch(url + path, { ...init, method: method ?? '' })
      return { status: response.status, body: (await response.json()) as Prediction }
    },
    stop: async () => {
      const ended = child.exitCode ?? once(child, 'exit')
      child.kill()
      await ended
    },
  }
}

interface Prediction {
  id?: string
  status?: string
  logs?: string
  output?: unknown
  error?: string
  detail?: { loc: string[]; msg: string; type: string }[]
}

const useEngine = (...args: string[]) =>
  use(
    () => startEngine(...args),
    ({ stop }) => stop(),
  )

const ASYNC = { prefer: 'respond-async' }
const IMAGE = `data:image/png;base64,${Buffer.from('png').toString('base64')}`

describe('an engine in Python', { skip }, () => {
  const engine = useEngine('fixtures.py:echo')
  const caller = useWebhookReceiver()
  let last = 0

  /** Starts a prediction that runs until it is let go. */
  const startHeld = async (more: object = {}) => {
    const id = `held-${++last}`
    const hold = makeLatch()
    caller.script(`/${id}/hold`, heldUntil(hold.opened, respond(200)))
    const input = { image: IMAGE, hold: caller.url(`/${id}/hold`) }
    const body = { input, webhook: caller.url(`/${id}`), ...more }
    const put = () => engine.ask(`PUT /predictions/${id}`, body, ASYNC)
    assert.deepEqual(await put(), { status: 202, body: { id, status: 'starting' } })
    await waitFor('the function runs', () => caller.of(`/${id}/hold`).length === 1)
    return { id, put, open: hold.open }
  }
  const hooksOf = (id: string): Prediction[] =>
    caller.of(`/${id}`).map(({ body }) => JSON.parse(String(body)) as Prediction)
  const endOf = async (id: string): Promise<Prediction> =>
    await waitFor(`the end of ${id}`, () =>
      hooksOf(id).find(({ status }) => /succeeded|failed|canceled/.test(status ?? '')),
    )

  test('has the document of its function', async () => {
    const { status, body } = await engine.ask('GET /openapi.json')
    assert.equal(status, 200)
    const { components } = body as { components: { schemas: Record<string, object> } }
    assert.deepEqual(components.schemas, {
      Input: {
        type: 'object',
        required: ['image'],
        properties: {
          image: { 'x-order': 0, description: 'The picture.', type: 'string', format: 'uri' },
          strength: {
            'x-order': 1,

            type: 'number',
            minimum: 0,
            maximum: 1,
            default: 0.5,
          },
          mode: {
            'x-order': 2,
            description: 'How it is given back.',
            type: 'string',
            enum: ['soft', 'hard'],
            default: 'soft',
          },
          seed: { 'x-order': 3, type: 'integer', nullable: true, default: null },
          more: {
            'x-order': 4,

            type: 'array',
            items: { type: 'string', format: 'uri' },
            nullable: true,
            default: null,
          },
          hold: { 'x-order': 5, type: 'string', default: '' },
          error: { 'x-order': 6, type: 'string', default: '' },
        },
      },
      Output: { type: 'array', items: { type: 'string', format: 'uri' } },
    })
  })

  test('takes files as data URLs and links, and gives data URLs back', async () => {
    caller.script('/a/photo.jpg?sig=x', respond(200, { 'content-type': 'image/jpeg' }, 'jpg'))
    const input = { image: IMAGE, more: [caller.url('/a/photo.jpg?sig=x')], unknown: 1 }
    const { status, body } = await engine.ask('POST /predictions', { input })
    assert.equal(status, 200)
    assert.equal(body.status, 'succeeded')
    assert.deepEqual(body.output, [
      IMAGE,
      `data:image/jpeg;base64,${Buffer.from('jpg').toString('base64')}`,
    ])
    assert.equal(body.logs, 'image.png 0.5 soft None\n')
  })

  test('rejects an input that does not fit, with each place', async () => {
    const bad = { strength: 2, mode: 'x', seed: true, more: ['/etc/hostname'], hold: 1 }
    const { status, body } = await engine.ask('PUT /predictions/a', { id: 'b', input: bad })
    assert.equal(status, 422)
    const issues = Object.fromEntries(
      (body.detail ?? []).map(({ loc, msg }) => [loc.join('.'), msg]),
    )
    assert.deepEqual(issues, {
      'body.input.image': 'Field required',
      'body.input.strength': '2 is not from 0 to 1',
      'body.input.mode': '"x" is not one of ["soft", "hard"]',
      'body.input.seed': 'true is not of type "integer"',
      'body.input.more': '"/etc/hostname" is not a data URL or an http(s) link',
      'body.input.hold': '1 is not of type "string"',
      'body.id': 'prediction ID must match the ID supplied in the URL',
    })
    const hook = { input: { image: IMAGE }, webhook: 'file:///x', webhook_events_filter: ['end'] }
    const places = (await engine.ask('POST /predictions', hook)).body.detail?.map(({ loc }) => loc)
    assert.deepEqual(places, [
      ['body', 'webhook'],
      ['body', 'webhook_events_filter'],
    ])
  })

  test('rejects what is no prediction', async () => {
    const statuses = [
      await engine.ask('POST /predictions', '{'),
      await engine.ask('POST /predictions', '['.repeat(100_000)),
      await engine.ask('POST /predictions', '{}', { 'content-type': 'text/plain' }),
      await engine.ask('POST /predictions', '[1]'),
      await engine.ask('GET /predictions/a'),
    ].map(({ status }) => status)
    assert.deepEqual(statuses, [400, 400, 415, 422, 404])
  })

  test('rejects a body that is too large before it comes', async () => {
    const headers = { 'content-type': 'application/json', 'content-length': 200_000_000 }
    const sent = request(`${engine.url}/predictions`, { method: 'POST', headers })
    sent.flushHeaders()
    const [response] = (await once(sent, 'response')) as [{ statusCode: number }]
    assert.equal(response.statusCode, 413)
    sent.on('error', () => {}).destroy()
  })

  test('reports a prediction by webhooks, in order, with its progress', async () => {
    const { id, open } = await startHeld()
    open()
    const end = await endOf(id)
    assert.equal(end.logs, 'image.png 0.5 soft None\n 50%|#####     | 1/2\n')
    assert.deepEqual(end.output, [IMAGE])
    const states = hooksOf(id).map(({ status, output }) => [status, output !== undefined])
    assert.deepEqual(states.at(0), ['processing', false])
    assert.deepEqual(states.slice(-2), [
      ['processing', true],
      ['succeeded', true],
    ])
  })

  test('sends only the webhooks that were asked for', async () => {
    const { id, open } = await startHeld({ webhook_events_filter: ['start', 'completed'] })
    open()
    await endOf(id)
    assert.deepEqual(
      hooksOf(id).map(({ status }) => status),
      ['processing', 'succeeded'],
    )
  })

  test('sends the last webhook again until it is taken, or never will be', async () => {
    const filter = { webhook_events_filter: ['completed'] }
    caller.script(`/held-${last + 1}`, inTurn(respond(503), respond(500), respond(204)))
    const taken = await startHeld(filter)
    taken.open()
    await waitFor('three attempts', () => hooksOf(taken.id).length === 3)
    caller.script(`/held-${last + 1}`, respond(410))
    const gone = await startHeld(filter)
    gone.open()
    await endOf(gone.id)
    const later = await startHeld(filter)
    later.open()
    await endOf(later.id)
    assert.equal(hooksOf(taken.id).length, 3)
    assert.equal(hooksOf(gone.id).length, 1)
  })

  test('runs one at a time, and a running one once', async () => {
    const { id, put, open } = await startHeld()
    assert.equal((await engine.ask('GET /health-check')).body.status, 'BUSY')
    const again = await put()
    assert.deepEqual([again.status, again.body.id, again.body.status], [202, id, 'processing'])
    const body = { id, input: { image: IMAGE } }
    assert.equal((await engine.ask('PUT /predictions/other', { input: body.input })).status, 409)
    assert.equal((await engine.ask('POST /predictions', body)).status, 409)
    open()
    await endOf(id)
    assert.equal(caller.of(`/${id}/hold`).length, 1)
    assert.equal((await engine.ask('GET /health-check')).body.status, 'READY')
  })

  test('raises a cancellation in the function, and removes its files', async () => {
    const { id } = await startHeld()
    assert.equal((await engine.ask(`POST /predictions/${id}/cancel`)).status, 200)
    const end = await endOf(id)
    assert.equal(end.status, 'canceled')
    const [, folder = ''] = /cancelled in (.*)/.exec(end.logs ?? '') ?? []
    assert.notEqual(folder, '')
    assert.equal(existsSync(folder), false)
    assert.equal((await engine.ask(`POST /predictions/${id}/cancel`)).status, 404)
  })

  test('cancels a prediction whose caller has left', async () => {
    const id = `left-${++last}`
    caller.script(`/${id}/hold`, heldUntil(new Promise(() => {}), respond(200)))
    const input = { image: IMAGE, hold: caller.url(`/${id}/hold`) }
    const leaving = new AbortController()
    const body = JSON.stringify({ input, webhook: caller.url(`/${id}`) })
    const headers = { 'content-type': 'application/json' }
    const options = { method: 'PUT', headers, body, signal: leaving.signal }
    const asked = assert.rejects(fetch(`${engine.url}/predictions/${id}`, options))
    await waitFor('the function runs', () => caller.of(`/${id}/hold`).length === 1)
    leaving.abort()
    await asked
    assert.equal((await endOf(id)).status, 'canceled')
  })

  test('reports a failure of the function as its error, and where it was in its logs', async () => {
    const input = { image: IMAGE, error: 'no such model' }
    const failed = await engine.ask('POST /predictions', { input })
    assert.equal(failed.status, 200)
    assert.equal(failed.body.status, 'failed')
    assert.equal(failed.body.error, 'ValueError: no such model')
    assert.match(
      failed.body.logs ?? '',
      /\nTraceback .*fixtures\.py.*ValueError: no such model\n$/s,
    )
    const final = await engine.ask('POST /predictions', { input: { ...input, error: 'never so' } })
    assert.equal(final.body.error, 'Final: never so')
    caller.script('/gone.png', respond(404))
    const gone = { image: caller.url('/gone.png') }
    const { body } = await engine.ask('POST /predictions', { input: gone })
    assert.match(body.error ?? '', /404/)
  })

  test('passes the conformance test', async () => {
    const hold = makeLatch()
    caller.script('/slow', heldUntil(hold.opened, respond(200)))
    const slow = JSON.stringify({ hold: caller.url('/slow') })
    const { code, stdout } = await run('conform', engine.url, '--slow', slow)
    assert.doesNotMatch(stdout, /WRONG/)
    assert.match(stdout, /^right {2}its end is canceled, and it ran once$/m)
    assert.equal(code, 0)
  })

  test('ends at SIGTERM in the midst of a prediction', async () => {
    const other = await startEngine('fixtures.py:echo')
    const input = { image: IMAGE, hold: caller.url('/never') }
    caller.script('/never', heldUntil(new Promise(() => {}), respond(200)))
    await other.ask('PUT /predictions/a', { input }, ASYNC)
    await waitFor('the function runs', () => caller.of('/never').length === 1)
    await other.stop()
    assert.equal(other.child.exitCode, 0)
  })
})

describe('the conformance test', { skip }, () => {
  const caller = useWebhookReceiver()

  test('names what an engine does wrong, and fails', async () => {
    const schemas = { Input: { properties: { text: { type: 'string' } } }, Output: {} }
    const document = JSON.stringify({ components: { schemas } })
    caller.script('/health-check', respond(200, {}, '{"status": "READY"}'))
    caller.script('/openapi.json', respond(200, {}, document))
    caller.script('/predictions', respond(200, {}, '{"status": "succeeded", "output": "a"}'))
    const { code, stdout } = await run('conform', caller.url(''), '--seconds', '0.1')
    assert.equal(code, 1)
    assert.match(stdout, /^right {2}POST responds with the output$/m)
    assert.match(stdout, /^WRONG {2}422 with detail for text 1: \(200, /m)
    assert.match(stdout, /^WRONG {2}202 with Prefer: respond-async: \(204, /m)
    assert.match(stdout, /^WRONG {2}it is sent again after 503: \[\]$/m)
  })

  test('says so where nothing responds', async () => {
    await caller.stop()
    const { code, stdout } = await run('conform', caller.url(''))
    assert.equal(code, 1)
    assert.match(stdout, /^WRONG {2}\S+ responds: /)
  })
})

describe('an engine with a token', { skip }, () => {
  const engine = useEngine('fixtures.py:count', '--token', 'secret')

  test('knows its callers by it, but for the health check', async () => {
    assert.equal((await engine.ask('GET /health-check')).status, 200)
    assert.equal((await engine.ask('GET /openapi.json')).status, 401)
    const wrong = { authorization: 'Bearer secretly' }
    assert.equal((await engine.ask('POST /predictions', {}, wrong)).status, 401)
    const right = { authorization: 'Bearer secret' }
    assert.equal((await engine.ask('GET /openapi.json', undefined, right)).status, 200)
    const { code, stdout } = await run('conform', engine.url, '--token', 'secret')
    assert.doesNotMatch(stdout, /WRONG/)
    assert.equal(code, 0)
  })

  test('reports what a generator yields as progress, and returns what it returns', async () => {
    const headers = { authorization: 'Bearer secret' }
    const { body } = await engine.ask('POST /predictions', { input: { steps: 2 } }, headers)
    assert.equal(body.output, 'counted')
    assert.equal(body.logs, '  0%|          | 0/2\n 50%|#####     | 1/2\n')
  })
})

describe('a file that cannot be served', { skip }, () => {
  const cases: [string, RegExp][] = [
    ['nothing.py', /nothing\.py is not a file/],
    ['fixtures.py', /has echo, .* with @engine: give one of them/],
    ['fixtures.py:other', /has echo, .* with @engine: give one of them/],
    ['fixtures.py:wrong', /wrong: the type of image: <class 'bytes'> is not str, int[^)]*$/m],
    ['fixtures.py:high', /high: the default of strength: 5 is not from 0 to 1$/m],
    ['fixtures.py:silent', /silent does not say what it returns, as in -> Path$/m],
  ]
  for (const [file, message] of cases)
    test(`is named: ${file}`, async () => {
      const { code, stderr } = await run(file)
      assert.equal(code, 2)
      assert.match(stderr, message)
    })
})

test(
  'a line of a docstring whose name is misspelt is warned of, and no other',
  { skip },
  async () => {
    const { stderr } = await run('fixtures.py:silent')
    assert.deepEqual(stderr.match(/^warning: .*$/gm), [
      'warning: silent: no parameter is called strenght, as in its docstring; did you mean strength?',
    ])
  },
)
