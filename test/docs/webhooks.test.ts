import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { text as readAll } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'

import { Webhook } from 'standardwebhooks'

import { POST_LIMITS } from '../../src/platform/outbound/post.ts'
import { makeWebhookSecret, signWebhook } from '../../src/events/adapters/webhook.ts'
import { DELIVERY_SCHEDULE } from '../../src/events/domain/delivery-schedule.ts'
import { OWNER_EVENTS, PUBLISHER_EVENTS, TEST_EVENT } from '../../src/events/domain/endpoint.ts'
import { AttemptErrorClass } from '../../src/events/domain/event.ts'
import { DeliveryState } from '../../src/tasks/domain/task-event.ts'
import { listRoutes } from '../support/contract.ts'
import { ROOT, codePath } from '../../src/local/root.ts'

type Headers = Record<string, string>

interface Recipe {
  verify(secret: string, body: string, headers: Headers): object
  makeReceiver(secret: string, handle: (event: object) => void): Server
}

let text: string
let folder: string
let recipe: Recipe

/** The code of the document, run as it stands there. */
before(async () => {
  text = await readFile(join(ROOT, 'docs/guides/webhooks.md'), 'utf8')
  folder = await mkdtemp(join(tmpdir(), 'kiln-webhooks-'))
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  recipe = Object.assign({}, await load('verify'), await load('receiver')) as Recipe
})
after(() => rm(folder, { recursive: true, force: true }))

const load = async (name: string): Promise<object> => {
  const code = new RegExp(`^\`\`\`js ${name}\\n(.*?)^\`\`\``, 'ms').exec(text)?.[1]
  assert.ok(code, `there is a block of code named ${name}`)
  const path = join(folder, `${name}.mjs`)
  await writeFile(path, code)
  return (await import(path)) as object
}

const BODY = { task_id: randomUUID(), status: 'COMPLETED', generated: ['https://a.example/ü'] }
const secret = makeWebhookSecret()
const now = () => Date.now() / 1000

type Signed = { body: string; headers: Headers }
const sign = ({
  secrets = [secret],
  timestamp = now(),
  body = JSON.stringify(BODY),
} = {}): Signed => ({
  body,
  headers: signWebhook({ id: randomUUID(), timestamp, body: Buffer.from(body), secrets }),
})

describe('the code that verifies without a library', () => {
  test('takes what this service signs', () => {
    const { body, headers } = sign()
    assert.deepEqual(recipe.verify(secret, body, headers), BODY)
  })

  test('takes what the library signs', () => {
    const body = JSON.stringify(BODY)
    const date = new Date()
    const signature = new Webhook(secret).sign('msg_1', date, body)
    const timestamp = String(Math.floor(date.getTime() / 1000))
    const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': timestamp }
    const signed = { ...headers, 'webhook-signature': `v1a,x ${signature}` }
    assert.deepEqual(recipe.verify(secret, body, signed), BODY)
  })

  test('takes either secret of a rotation', () => {
    const other = makeWebhookSecret()
    const { body, headers } = sign({ secrets: [other, secret] })
    for (const each of [secret, other]) assert.deepEqual(recipe.verify(each, body, headers), BODY)
  })

  const changed = (name: string, change: (value: string) => string) => () => {
    const { body, headers } = sign()
    return { body, headers: { ...headers, [name]: change(headers[name] ?? '') } }
  }
  const WRONG: [what: string, make: () => Signed][] = [
    ['another secret', () => sign({ secrets: [makeWebhookSecret()] })],
    ['another body', () => ({ ...sign(), body: '{}' })],
    ['a body written again', () => ({ ...sign(), body: JSON.stringify(BODY, null, 1) })],
    ['another id', changed('webhook-id', () => randomUUID())],
    ['another time', changed('webhook-timestamp', (time) => String(Number(time) - 1))],
    ['a time long ago', () => sign({ timestamp: now() - 310 })],
    ['a time to come', () => sign({ timestamp: now() + 310 })],
    ['no time', changed('webhook-timestamp', () => 'x')],
    ['no signature', changed('webhook-signature', () => '')],
    ['another form of signature', changed('webhook-signature', (one) => one.replace('v1', 'v2'))],
  ]
  for (const [what, make] of WRONG)
    test(`rejects ${what}, as the library does`, () => {
      const { body, headers } = make()
      assert.throws(() => recipe.verify(secret, body, headers))
      assert.throws(() => new Webhook(secret).verify(body, headers))
    })
})

describe('the receiver', () => {
  let handled: object[]
  let server: Server

  before(async () => {
    server = recipe.makeReceiver(secret, (event) => handled.push(event)).listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  after(() => {
    server.close().closeAllConnections()
  })

  const send = async ({ body, headers }: Signed, sequence: number): Promise<number> => {
    const { port } = server.address() as AddressInfo
    const all = { ...headers, 'webhook-sequence': String(sequence) }
    const init = { method: 'POST', headers: all, body }
    return (await fetch(`http://127.0.0.1:${port}/`, init)).status
  }
  const transition = (id: string, status: string) =>
    sign({ body: JSON.stringify({ ...BODY, task_id: id, status }) })

  test('handles each event once, and none that a later one has overtaken', async () => {
    handled = []
    const [id, other] = [randomUUID(), randomUUID()]
    const [first, last] = [transition(id, 'IN_PROGRESS'), transition(id, 'COMPLETED')]
    const failed = transition(other, 'FAILED')
    for (const [signed, sequence] of [
      [last, 3],
      [first, 2],
      [last, 3],
      [failed, 2],
    ] as const)
      assert.equal(await send(signed, sequence), 204)
    assert.deepEqual(handled, [
      { ...BODY, task_id: id, status: 'COMPLETED' },
      { ...BODY, task_id: other, status: 'FAILED' },
    ])
  })

  test('keeps the order of each subject of an endpoint', async () => {
    handled = []
    const event = (subject: string | undefined, type: string) => ({
      type,
      timestamp: new Date().toISOString(),
      ...(subject !== undefined && { subject_id: subject }),
      data: {},
    })
    const [a, b] = [randomUUID(), randomUUID()]
    const sent: [event: object, sequence: number][] = [
      [event(a, 'version.active'), 2],
      [event(a, 'version.received'), 1],
      [event(b, 'version.received'), 1],
      [event(undefined, 'endpoint.test'), 1],
    ]
    for (const [body, sequence] of sent)
      assert.equal(await send(sign({ body: JSON.stringify(body) }), sequence), 204)
    assert.deepEqual(
      handled.map((each) => (each as { type: string }).type),
      ['version.active', 'version.received', 'endpoint.test'],
    )
  })

  test('rejects what is not signed with its secret', async () => {
    handled = []
    assert.equal(await send(sign({ secrets: [makeWebhookSecret()] }), 2), 401)
    assert.deepEqual(handled, [])
  })
})

describe('the document', () => {
  test('the webhook guide has every event type of webhook subscriptions', () => {
    const items = [...text.matchAll(/^- ((?:`\w*\.\w+`[,;]?\s*)+):/gm)]
    const types = items.flatMap(([, listed = '']) => {
      let noun = ''
      return [...listed.matchAll(/`(\w*)\.(\w+)`/g)].map(([, given, verb]) => {
        noun = given === '' ? noun : String(given)
        return `${noun}.${String(verb)}`
      })
    })
    const all = [...OWNER_EVENTS, ...PUBLISHER_EVENTS, TEST_EVENT]
    assert.deepEqual(types.toSorted(), all.toSorted())
  })

  test('the webhook guide shows the schedule as it is', () => {
    const units: Record<string, number> = { seconds: 1, minutes: 60, hours: 3600 }
    const rows = [...text.matchAll(/^\| (\d+) +\| (?:at once|(\d+) (\w+)) +\|$/gm)]
    assert.deepEqual(
      rows.map(([, number]) => Number(number)),
      DELIVERY_SCHEDULE.steps.map((_, index) => index + 1),
    )
    assert.deepEqual(
      rows.map(([, , count = '0', unit = 'seconds']) => Number(count) * (units[unit] ?? NaN)),
      DELIVERY_SCHEDULE.steps,
    )
    const { jitter, busySeconds, retryAfterSeconds } = DELIVERY_SCHEDULE
    assert.deepEqual([jitter, busySeconds, retryAfterSeconds], [0.2, 60, 3600])
  })

  test('the webhook guide shows the limits of an attempt as they are', () => {
    const { connectMs, headersMs, bodyMs, totalMs, bodyBytes } = POST_LIMITS
    assert.deepEqual([connectMs, headersMs, bodyMs, totalMs], [5000, 10_000, 2000, 15_000])
    assert.equal(bodyBytes, 64 * 1024)
  })

  test('names every state, every class of error and every route of events', () => {
    for (const word of [...DeliveryState.enum, ...AttemptErrorClass.enum])
      assert.ok(text.includes(`\`${word}\``), word)
    for (const { method, path } of listRoutes().filter(({ tag }) => tag === 'Events')) {
      const route = `${method.toUpperCase()} ${path.replace(/:(\w+)/g, '{$1}')}`
      assert.ok(text.includes(`${route}\``), route)
    }
  })
})

describe('npm run kiln -- receiver', () => {
  const start = (...options: string[]) =>
    spawn(process.execPath, [codePath('tools/receiver.ts'), ...options])

  test('the receiver responds as asked to what is signed, 401 to what is not, and prints both', async () => {
    const child = start('--port', '0', '--secret', secret, '--status', '500')
    try {
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
      const next = async (): Promise<string> => String((await lines.next()).value)
      const [url = ''] = /http:[^,]+/.exec(await next()) ?? []
      const send = async ({ body, headers }: Signed) =>
        (await fetch(url, { method: 'POST', headers, body })).status
      assert.equal(await send(sign({ body: '{"status":"COMPLETED"}' })), 500)
      assert.match(await next(), / COMPLETED signed, responded 500 webhook-id [\w-]{36}$/)
      assert.deepEqual(
        [await next(), await next(), await next()],
        ['  {', '    "status": "COMPLETED"', '  }'],
      )
      assert.equal(await send(sign({ secrets: [makeWebhookSecret()], body: '\u001b[2J' })), 401)
      const unsigned = / NOT SIGNED with a secret that this receiver knows, responded 401 /
      assert.match(await next(), unsigned)
      assert.equal(await next(), '  \uFFFD[2J')
    } finally {
      child.kill()
    }
  })

  for (const [name, value] of Object.entries({
    port: 70000,
    status: 'x',
    delay: -1,
    secret: 'guess',
  }))
    test(`rejects --${name}=${value} and says what it takes`, async () => {
      const child = start('--secret', secret, `--${name}=${value}`)
      const [printed, [code]] = await Promise.all([readAll(child.stderr), once(child, 'exit')])
      assert.equal(code, 1)
      assert.match(printed, new RegExp(`^--${name} must be .*\nusage: npm run kiln -- receiver`))
    })
  test('the receiver prints its usage when it is asked, and reports a port that is taken', async () => {
    const asked = start('--help')
    const [usage, [code]] = await Promise.all([readAll(asked.stdout), once(asked, 'exit')])
    assert.match(usage, /^usage: npm run kiln -- receiver/)
    assert.equal(code, 0)
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const late = start('--secret', secret, '--port', String(port))
    const [printed] = await Promise.all([readAll(late.stderr), once(late, 'exit')])
    server.close()
    assert.match(printed, new RegExp(`^port ${port} is taken: give another one by --port\n`))
  })
})
