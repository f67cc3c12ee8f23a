import assert from 'node:assert/strict'
import { connect, createServer } from 'node:net'
import { afterEach, beforeEach, describe, test, type TestContext } from 'node:test'
import { makeOutbound } from '../../../src/platform/outbound/outbound.ts'
import { POST_LIMITS } from '../../../src/platform/outbound/post.ts'
import type {
  NoResponse,
  Posted,
  PostLimits,
  PostOptions,
} from '../../../src/platform/outbound/post.ts'
import { makeClient, type Outbound } from '../../../src/platform/outbound/client.ts'
import { openSystemSocket, type Dial } from '../../../src/platform/outbound/connector.ts'
import { makeResolver } from '../../../src/platform/outbound/resolver.ts'
import { parseRetryAfter } from '../../../src/platform/domain/retry-after.ts'
import { makeCertificate } from '../../support/certificate.ts'
import { listen } from '../../support/network.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import {
  respond,
  dripBody,
  dripHead,
  flood,
  hang,
  hangUp,
  heldUntil,
  inTurn,
  pour,
  reset,
  resetAfter,
  startWebhookReceiver,
  useWebhookReceiver,
  write,
  type Reply,
  type WebhookReceiver,
} from '../../support/receiver.ts'
import { makeLatch, waitFor } from '../../support/wait.ts'

const ON = { allowLoopback: true, ports: [], deny: [] }
const OFF = { ...ON, allowLoopback: false }
const PUBLIC = '93.184.215.14'
const HEADERS = { 'webhook-id': 'event-1', 'webhook-signature': 'v1,abc= v1,def=' }
const BODY = Buffer.from('{"task_id":"ä😀","payload":"\\u0000"}')

const PATIENT: PostLimits = {
  ...POST_LIMITS,
  connectMs: PATIENCE_MS,
  headersMs: PATIENCE_MS,
  totalMs: PATIENCE_MS,
}
const part = (changed: Partial<PostLimits>): PostLimits => ({ ...PATIENT, ...changed })

const fails = (
  posted: Posted,
  errorClass: NoResponse['errorClass'],
  reason?: string,
): NoResponse => {
  assert.ok(posted.errorClass !== undefined, `got the status ${posted.status}`)
  assert.equal(posted.errorClass, errorClass, `${posted.reason}: ${String(posted.cause)}`)
  if (reason !== undefined) assert.equal(posted.reason, reason)
  assert.doesNotMatch(posted.reason, /\d+\.\d+\.\d+\.\d+|\n/)
  return posted
}

const is = (posted: Posted, status: number): string => {
  if (posted.status === undefined) assert.fail(`${posted.reason}: ${String(posted.cause)}`)
  assert.equal(posted.status, status)
  return posted.excerpt
}

const head = (status: number, ...lines: string[]) =>
  [`HTTP/1.1 ${status} Said`, ...lines, '', ''].join('\r\n')

describe('a post', () => {
  let outbound: Outbound
  const receiver = useWebhookReceiver()
  beforeEach(() => void (outbound = makeOutbound(ON)))
  // However an attempt ended, its connection is gone or kept, and with the client those are gone that it kept.
  afterEach(async () => {
    outbound.close()
    await waitFor('no connection open', () => receiver.open() === 0)
  })

  let paths = 0
  const send = (reply: Reply, options: Partial<PostOptions> = {}, client = outbound) => {
    const path = `/hook-${(paths += 1)}`
    receiver.script(path, reply)
    const message = { url: receiver.url(path), headers: HEADERS, body: BODY }
    return client.post({ ...message, limits: PATIENT, ...options })
  }

  test('arrives byte for byte, with the headers given and few others', async () => {
    const posted = await send(respond(200), { url: receiver.url('/hook?token=a%20b') })
    is(posted, 204)
    const [request, ...others] = receiver.of('/hook?token=a%20b')
    assert.equal(others.length, 0)
    assert.equal(request?.method, 'POST')
    assert.deepEqual(request.body, BODY)
    assert.deepEqual(request.headers, {
      host: `127.0.0.1:${receiver.port}`,
      connection: 'keep-alive',
      'content-type': 'application/json',
      'content-length': String(BODY.length),
      'user-agent': 'Kiln',
      ...HEADERS,
    })
    assert.equal(posted.address, '127.0.0.1')
    assert.ok(Number.isInteger(posted.durationMs), String(posted.durationMs))
  })

  test('arrives whole when it is empty, and when it is 12 MiB', async () => {
    for (const body of [Buffer.alloc(0), Buffer.alloc(12_582_912, 'a')]) {
      is(await send(respond(204), { body }), 204)
      assert.ok(receiver.received.at(-1)?.body.equals(body), `${body.length} bytes`)
    }
  })

  test('works by the name localhost and returns the address behind it', async () => {
    const posted = await send(respond(204), { url: receiver.url('/', 'localhost') })
    is(posted, 204)
    assert.equal(posted.address, '127.0.0.1')
  })

  for (const status of [200, 201, 202, 204, 299, 304, 400, 404, 410, 429, 500, 502, 503, 504, 599])
    test(`returns the status ${status}`, async () => {
      is(await send(respond(status)), status)
    })

  for (const status of [301, 302, 303, 307, 308])
    test(`follows no ${status}`, async () => {
      const before = receiver.received.length
      const location = receiver.url('/target')
      is(await send(respond(status, { location }, 'elsewhere')), status)
      assert.equal(receiver.received.length, before + 1)
      assert.equal(receiver.of('/target').length, 0)
    })

  for (const [value, seconds] of [
    ['120', 120],
    ['Sun, 06 Nov 2095 08:49:37 GMT', 60],
  ] as const)
    test(`returns Retry-After as it came: ${value}`, async () => {
      const posted = await send(respond(429, { 'retry-after': value }, 'slow down'))
      assert.equal(is(posted, 429), 'slow down')
      const now = new Date('2095-11-06T08:48:37Z')
      assert.equal(parseRetryAfter(posted.status ? posted.retryAfter : '', now), seconds)
    })

  test('returns the first of two Retry-Afters', async () => {
    const posted = await send(write(head(503, 'retry-after: 5', 'retry-after: 7', 'x: y')))
    is(posted, 503)
    assert.equal(posted.status && posted.retryAfter, '5')
  })

  test('skips interim responses', async () => {
    const interim = `${head(103, 'link: </a>')}${head(102)}`
    assert.equal(is(await send(write(`${interim}${head(200, 'content-length: 2')}ok`)), 200), 'ok')
    // undici takes an interim 100 that it did not ask for as an error; the status stands.
    is(await send(write(`${head(100)}${head(200)}`)), 200)
    is(await send(resetAfter(`${interim}HTTP/1.1 202 Accepted\r\n`)), 202)
  })

  describe('after another to the same receiver', () => {
    /** Sends as often as there are replies; returns the outcomes and how many connections there were. */
    const sendInTurn = async (posts: number, ...replies: [Reply, ...Reply[]]) => {
      const path = `/turns-${(paths += 1)}`
      const before = receiver.connections()
      receiver.script(path, inTurn(...replies))
      const outcomes: (number | string)[] = []
      const url = receiver.url(path)
      for (let i = 0; i < posts; i += 1) {
        const located = await outbound.locate({ url })
        const message = { url, headers: HEADERS, body: BODY, limits: PATIENT }
        const posted = await outbound.post({ ...message, located })
        outcomes.push(posted.status ?? posted.errorClass)
      }
      const connections = receiver.connections() - before
      return { outcomes, requests: receiver.of(path).length, connections }
    }

    const ok = respond(204)
    const cut = write('HTTP/1.1 2', (socket) => socket.destroy())
    const closing = respond(200, { connection: 'close' })
    const again = 'is sent once more when that connection ends before a byte of the response'
    /** Replies, the outcomes of the posts, and how many requests and connections they took. */
    const TURNS: [string, [Reply, ...Reply[]], (number | string)[], number, number][] = [
      [
        'goes on its connection',
        [ok, respond(500, {}, 'x'), respond(410)],
        [204, 500, 410, 410],
        4,
        1,
      ],
      [again, [ok, reset, respond(200)], [204, 200], 3, 2],
      [`${again}, and not twice`, [ok, hangUp, reset], [204, 'reset'], 3, 2],
      [
        'is not sent again when the response had begun',
        [ok, cut, respond(200)],
        [204, 'reset'],
        2,
        1,
      ],
      ['is not sent again on a connection of its own', [reset, closing], ['reset', 200, 200], 3, 3],
    ]
    for (const [title, replies, outcomes, requests, connections] of TURNS)
      test(title, async () => {
        const sent = await sendInTurn(outcomes.length, ...replies)
        assert.deepEqual(sent, { outcomes, requests, connections })
      })

    test('goes on no connection to an address that its host has no longer', async () => {
      const [path, host] = [`/turns-${(paths += 1)}`, 'localhost']
      const sendTo = (address: string) => {
        const located = { addresses: [address], tookMs: 0 }
        return send(respond(204), { url: receiver.url(path, host), located })
      }
      is(await sendTo('127.0.0.1'), 204)
      assert.equal(fails(await sendTo('127.0.0.2'), 'connect').address, '127.0.0.2')
      is(await sendTo('127.0.0.1'), 204)
    })

    test('ends its connection when 256 are open', async () => {
      let arrived = 0
      const [all, end] = [makeLatch(), makeLatch()]
      const held: Reply = (turn) => {
        if ((arrived += 1) === 256) all.open()
        heldUntil(end.opened, respond(200))(turn)
      }
      const others = Array.from({ length: 256 }, () => send(held))
      await all.opened
      is(await send(respond(200)), 200)
      assert.equal(receiver.received.at(-1)?.headers['connection'], 'close')
      end.open()
      for (const posted of await Promise.all(others)) is(posted, 200)
    })

    test('keeps no connection whose response was not read to its end', async () => {
      const { connections } = await sendInTurn(2, respond(200, {}, 'x'.repeat(100_000)))
      assert.equal(connections, 2)
    })
  })

  describe('whose response goes on', () => {
    const LIMIT = 'x'.repeat(1_022)
    const excerpts: [title: string, reply: Reply, excerpt: string][] = [
      ['in text', respond(200, {}, 'taken'), 'taken'],
      ['in more than 1 KiB', respond(500, {}, 'x'.repeat(1_025)), 'x'.repeat(1_024)],
      ['with control characters', respond(200, {}, 'a\u0000b\r\n\tc\u001b[31m\u0085d'), 'abc[31md'],
      ['with a character at the limit', respond(200, {}, `${LIMIT}😀`), LIMIT],
      ['in bytes that are no text', write(`${head(200, 'content-length: 3')}\u0000ä`), 'ä'],
    ]
    for (const [title, reply, excerpt] of excerpts)
      test(`${title} is kept as an excerpt`, async () => {
        assert.equal(is(await send(reply), title.includes('1 KiB') ? 500 : 200), excerpt)
      })

    test('in broken UTF-8 is kept with replacement characters', async () => {
      const reply: Reply = ({ response }) => response.end(Buffer.from([0x61, 0xff, 0xc3, 0x28]))
      assert.equal(is(await send(reply), 200), 'a\ufffd\ufffd(')
    })

    const endless: [title: string, reply: Reply, status: number][] = [
      ['with 1 GB', flood(200, 1_000_000_000), 200],
      ['without end', flood(200), 200],
      ['without end after a failure', flood(503), 503],
    ]
    for (const [title, reply, status] of endless)
      test(`${title} is read no further than 64 KiB`, async () => {
        let sent = 0
        const posted = await send((turn) => {
          reply(turn)
          turn.socket.on('close', () => {
            sent = turn.socket.bytesWritten
          })
        })
        assert.equal(is(posted, status), 'x'.repeat(1_024))
        await waitFor('the connection closed', () => sent > 0)
        // What was on its way fills the buffers of both sides, and nothing comes after.
        assert.ok(sent < 20_000_000, `${sent} bytes`)
      })

    test('in drips is read for its time only', async () => {
      const excerpt = is(await send(dripBody(200), { limits: part({ bodyMs: 100 }) }), 200)
      assert.match(excerpt, /^\.+$/)
    })

    /** Sends, and lets the time of the client pass when so much has dripped that it has read the first of it. */
    const sendPast = async (
      { mock }: TestContext,
      ms: number,
      reply: Reply,
      limits: PostLimits,
    ) => {
      mock.timers.enable({ apis: ['setTimeout'] })
      let written = () => 0
      const sending = send(
        (turn) => {
          reply(turn)
          written = () => turn.socket.bytesWritten
        },
        { limits },
      )
      await waitFor('it drips', () => written() > 0)
      const start = written()
      await waitFor('it has dripped', () => written() > start + 20)
      mock.timers.tick(ms)
      return await sending
    }

    test('in drips is cut by the whole deadline also, and counts', async (context) => {
      const limits = part({ totalMs: 400 })
      is(await sendPast(context, 400, dripBody(201), limits), 201)
    })

    const broken: [title: string, text: string, status: number][] = [
      ['after the status line', 'HTTP/1.1 200 OK\r\n', 200],
      ['within the head', 'HTTP/1.1 201 Created\r\nx-a: b', 201],
      ['after the head', head(200, 'content-length: 10'), 200],
      ['within the body', `${head(202, 'content-length: 10')}half`, 202],
      ['within a chunk', `${head(200, 'transfer-encoding: chunked')}ff\r\nhalf`, 200],
      ['after the status line of a failure', 'HTTP/1.1 503 Busy\r\n', 503],
      ['after the status line of a 410', 'HTTP/1.1 410 Gone\r\n', 410],
    ]
    for (const [title, text, status] of broken) {
      test(`and is reset ${title} counts as ${status}`, async () => {
        is(await send(resetAfter(text)), status)
      })
      test(`and ends ${title} counts as ${status}`, async () => {
        is(await send(write(text, (socket) => socket.end())), status)
      })
    }

    test('in a head of more than 16 KiB counts by its status line', async () => {
      is(await send(write(head(200, `x-long: ${'a'.repeat(20_000)}`))), 200)
    })

    test('in a head that drips counts by its status line', async (context) => {
      const limits = part({ headersMs: 400 })
      is(await sendPast(context, 400, dripHead('HTTP/1.1 200 OK\r\nx: '), limits), 200)
    })

    test('in what is no HTTP counts by its status line', async () => {
      is(await send(write('HTTP/1.1 200 OK\r\nno header at all\r\n\r\n')), 200)
    })
  })

  describe('without a response', () => {
    const silent: [title: string, reply: Reply][] = [
      ['hangs', hang],
      ['drips its status line', dripHead()],
      ['sends interim responses only', write(head(103))],
    ]
    for (const [title, reply] of silent) {
      test(`is a timeout at a receiver that ${title}`, async () => {
        const posted = await send(reply, { limits: part({ headersMs: 100 }) })
        const { address } = fails(posted, 'timeout', 'no response within 0.1 seconds')
        assert.equal(address, '127.0.0.1')
      })
      test(`is a timeout of the whole at a receiver that ${title}`, async () => {
        const posted = await send(reply, { limits: part({ totalMs: 100 }) })
        fails(posted, 'timeout', 'no complete response within 0.1 seconds')
      })
    }

    const rude: [title: string, reply: Reply, errorClass: NoResponse['errorClass']][] = [
      ['resets', reset, 'reset'],
      ['hangs up', hangUp, 'reset'],
      ['resets within the status line', resetAfter('HTTP/1.1 20'), 'reset'],
      ['resets behind an interim response', resetAfter(head(103)), 'reset'],
      ['sends interim responses as fast as it can', pour(head(103)), 'unknown'],
      ['has a reason without an end', pour('HTTP/1.1 503 Gone'), 'unknown'],
      ['speaks another protocol', write('SSH-2.0-OpenSSH_9.6\r\n'), 'unknown'],
    ]
    for (const [title, reply, errorClass] of rude)
      test(`is ${errorClass} at a receiver that ${title}`, async () => {
        assert.equal(fails(await send(reply), errorClass).address, '127.0.0.1')
      })

    test('makes one connection to a receiver that talks before it is asked', async (t) => {
      const hasty = await listen(createServer((socket) => socket.end('HELO\r\n')))
      t.after(hasty.close)
      const posted = await send(hang, { url: `http://127.0.0.1:${hasty.port}/` })
      assert.ok(posted.errorClass, 'no response')
      assert.equal(hasty.connections(), 1)
    })

    test('is connect at a closed port, and returns the address', async () => {
      const gone = await startWebhookReceiver()
      await gone.stop()
      const posted = fails(await send(hang, { url: gone.url('/') }), 'connect')
      assert.equal(posted.address, '127.0.0.1')
      assert.match(String(posted.cause), /ECONNREFUSED/)
    })

    test('is a timeout where no connection comes about', async () => {
      const network = { resolve: async () => [PUBLIC], openSocket: openNothing }
      const limits = part({ connectMs: 50 })
      const url = 'https://hooks.example.com/'
      const posted = await send(hang, { url, limits }, makeClient(OFF, network))
      assert.equal(fails(posted, 'timeout', 'no connection within 0.05 seconds').address, PUBLIC)
    })

    test('is a timeout where a look-up never ends', async () => {
      const client = makeOutbound({ ...OFF, resolve: () => new Promise(() => {}) })
      const limits = part({ connectMs: 50 })
      const posted = await send(hang, { url: 'https://hooks.example.com/', limits }, client)
      assert.equal(fails(posted, 'timeout', 'no connection within 0.05 seconds').address, undefined)
    })

    test('has less time where a look-up before it took some', async () => {
      const network = { resolve: () => assert.fail('looked up'), openSocket: openNothing }
      const located = { addresses: [PUBLIC], tookMs: 5_000 }
      const url = 'https://hooks.example.com/'
      const options = { url, located, limits: POST_LIMITS }
      const posted = await send(hang, options, makeClient(OFF, network))
      assert.ok(fails(posted, 'timeout', 'no connection within 5 seconds').durationMs >= 5_000)
    })

    test('is a timeout where a handshake never ends', async (t) => {
      const mute = await listen(createServer(() => {}))
      t.after(mute.close)
      const limits = part({ connectMs: 100 })
      const posted = await send(hang, { url: `https://127.0.0.1:${mute.port}/`, limits })
      fails(posted, 'timeout', 'no TLS handshake within 0.1 seconds')
    })

    test('is dns for a name without addresses', async () => {
      for (const resolve of [async () => [], () => Promise.reject(new Error('ENOTFOUND'))]) {
        const client = makeOutbound({ ...OFF, resolve })
        const posted = await send(hang, { url: 'https://hooks.example.com/' }, client)
        assert.equal(fails(posted, 'dns').address, undefined)
      }
    })
  })

  test('ends with the reason of the signal, before and after it was sent', async () => {
    const reason = new Error('the worker is stopping')
    const before = receiver.received.length
    const early = send(respond(200), { signal: AbortSignal.abort(reason) })
    await assert.rejects(early, (error) => error === reason)
    assert.equal(receiver.received.length, before)

    const controller = new AbortController()
    const stop: Reply = () => controller.abort(reason)
    await assert.rejects(send(stop, { signal: controller.signal }), (error) => error === reason)
    assert.equal(receiver.received.length, before + 1)
  })

  test('returns the status of a post that is stopped within the response', async () => {
    const controller = new AbortController()
    const reply: Reply = ({ response }) => {
      let drops = 0
      const drop = setInterval(() => {
        response.write('.')
        // By the fifth the first has arrived, however busy the machine is.
        if ((drops += 1) === 5) controller.abort(new Error('stopping'))
      }, 10)
      response.on('close', () => clearInterval(drop))
    }
    is(await send(reply, { signal: controller.signal }), 200)
  })

  test('ends when the client is closed, and none begins after', async () => {
    const client = makeOutbound(ON)
    const closing: Reply = () => client.close()
    await assert.rejects(send(closing, {}, client), { name: 'AbortError' })
    await assert.rejects(send(respond(200), {}, client), { name: 'AbortError' })
  })

  test('goes beside a hundred others, each on a connection of its own', async () => {
    const before = receiver.connections()
    let arrived = 0
    const all = makeLatch()
    const reply: Reply = (turn) => {
      if ((arrived += 1) === 100) all.open()
      heldUntil(all.opened, respond(200))(turn)
    }
    const posted = await Promise.all(Array.from({ length: 100 }, () => send(reply)))
    for (const one of posted) is(one, 200)
    assert.equal(receiver.connections() - before, 100)
  })

  test('reaches a receiver that was killed and has come back', async (t) => {
    const mortal = await startWebhookReceiver()
    t.after(mortal.stop)
    const options = { url: mortal.url('/') }
    is(await send(hang, options), 204)
    await mortal.stop()
    fails(await send(hang, options), 'connect')
    await mortal.start()
    is(await send(hang, options), 204)
    assert.equal(mortal.received.length, 2)
  })
})

/** A socket that is never connected. */
const openNothing = ({ signal }: Dial) =>
  connect({ host: 'never.example.com', port: 9, signal, lookup: () => {} })

describe('a post over TLS', () => {
  const hosts = ['127.0.0.1', 'localhost', 'hooks.example.com']
  const certificate = makeCertificate(hosts)
  const system = { resolve: makeResolver(), openSocket: openSystemSocket }
  let trusting: Outbound
  const receiver = useWebhookReceiver({ certificate })
  beforeEach(() => void (trusting = makeClient(ON, { ...system, ca: certificate.cert })))
  afterEach(async () => {
    trusting.close()
    await waitFor('no connection open', () => receiver.open() === 0)
  })

  const send = (url: string, client = trusting) =>
    client.post({ url, headers: HEADERS, body: BODY, limits: PATIENT })

  for (const host of ['127.0.0.1', 'localhost'])
    test(`arrives at ${host} with a trusted certificate`, async () => {
      is(await send(receiver.url('/', host)), 204)
      assert.deepEqual(receiver.received.at(-1)?.body, BODY)
    })

  const replies: [title: string, reply: Reply, status: number][] = [
    ['floods', flood(200), 200],
    ['breaks off after the status line', resetAfter('HTTP/1.1 200 OK\r\n'), 200],
    ['breaks off after the head', resetAfter(head(201, 'content-length: 9')), 201],
  ]
  for (const [title, reply, status] of replies)
    test(`gets a response from a receiver that ${title}`, async () => {
      receiver.script('/odd', reply)
      is(await send(receiver.url('/odd')), status)
    })

  test('is reset at a receiver that breaks off', async () => {
    receiver.script('/reset', reset)
    fails(await send(receiver.url('/reset')), 'reset')
  })

  const rejected = async (client: Outbound, other: WebhookReceiver, host?: string) => {
    const posted = fails(await send(other.url('/', host), client), 'tls')
    assert.match(posted.reason, /: the certificate is self-signed$/)
    assert.equal(posted.address, '127.0.0.1')
    assert.equal(other.received.length, 0)
  }

  const certificates: [title: string, hosts: string[], days: number, detail: RegExp][] = [
    ['that has expired', hosts, -1, /: the certificate has expired$/],
    ['of another host', ['other.example.com'], 9, /: the certificate is not for this host name$/],
  ]
  for (const [title, hosts, days, detail] of certificates)
    test(`says that the certificate is one ${title}`, async (t) => {
      const certificate = makeCertificate(hosts, days)
      const other = await startWebhookReceiver({ certificate })
      t.after(other.stop)
      const client = makeClient(ON, { ...system, ca: certificate.cert })
      t.after(client.close)
      assert.match(fails(await send(other.url('/'), client), 'tls').reason, detail)
    })

  test('says that the other side does not speak TLS', async (t) => {
    const plain = await startWebhookReceiver()
    t.after(plain.stop)
    const posted = fails(await send(plain.url('/').replace('http:', 'https:')), 'tls')
    assert.match(posted.reason, /: the server does not speak TLS 1.2 or 1.3 at this port$/)
  })

  test('is rejected at a certificate nobody signed, whatever the environment says', async (t) => {
    const other = await startWebhookReceiver({ certificate })
    t.after(other.stop)
    await rejected(makeOutbound(ON), other)
    t.after(() => delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'])
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
    await rejected(makeOutbound(ON), other)
  })
})
