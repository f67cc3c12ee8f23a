import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { beforeEach, describe, test } from 'node:test'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { DownloadOptions } from '../../../src/platform/outbound/download.ts'
import { toTaskError } from '../../../activities/engines/download-error.ts'
import { OutboundError } from '../../../src/platform/outbound/error.ts'
import type { OutboundErrorKind } from '../../../src/platform/outbound/error.ts'
import { makeOutbound } from '../../../src/platform/outbound/outbound.ts'
import { makeClient } from '../../../src/platform/outbound/client.ts'
import { openSystemSocket } from '../../../src/platform/outbound/connector.ts'
import { makeResolver } from '../../../src/platform/outbound/resolver.ts'
import { OUTBOUND_ERRORS, toOutboundError } from '../../../src/platform/outbound/error.ts'
import { makeCertificate } from '../../support/certificate.ts'
import { useFolder } from '../../support/folder.ts'
import { listen, startReceiver, useReceiver } from '../../support/network.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { pourInto } from '../../support/receiver.ts'

const ON = { allowLoopback: true, ports: [], deny: [] }
const BODY = randomBytes(300_000)
const SHA256 = createHash('sha256').update(BODY).digest('hex')

type RespondWith = (request: IncomingMessage, response: ServerResponse) => void

const redirectTo =
  (location: string | undefined, status = 302): RespondWith =>
  (_request, response) =>
    response.writeHead(status, location === undefined ? {} : { location }).end('elsewhere')

const insecure = (detail: string) => `no secure connection could be made: ${detail}`

/** Begins a response without `end`, so that it stays open until the client leaves. */
const begin = (response: ServerResponse, headers: Record<string, string | number>, text: string) =>
  response.writeHead(200, headers).write(text)

const encoded =
  (encoding: string, body: Buffer): RespondWith =>
  (_request, response) =>
    response.writeHead(200, { 'content-encoding': encoding }).end(body)

const RESPONSES: Record<string, RespondWith> = {
  '/image': (_request, response) => response.end(BODY),
  '/chunked': (_request, response) => {
    response.write(BODY.subarray(0, 1_000))
    response.end(BODY.subarray(1_000))
  },
  '/empty': (_request, response) => response.end(),
  '/labelled': (_request, response) =>
    response.writeHead(200, { 'content-encoding': 'aws-chunked' }).end(BODY),
  '/gzip': encoded('GZIP', gzipSync(BODY)),
  '/brotli': encoded('br', brotliCompressSync(BODY)),
  '/bomb': encoded('gzip', gzipSync(Buffer.alloc(50_000_000))),
  '/no-gzip': encoded('gzip', BODY),
  '/cut-gzip': encoded('gzip', gzipSync(BODY).subarray(0, 9_000)),
  '/zstd': encoded('zstd', BODY),
  '/twice': encoded('gzip, br', BODY),
  '/to-long': redirectTo(`/image?${'a'.repeat(8_000)}`),
  '/to-blank': redirectTo(' /my image '),
  '/to-utf8': redirectTo(Buffer.from('/bücher?ü').toString('latin1')),
  '/hop1': redirectTo('/image', 301),
  '/hop2': redirectTo('/hop1', 303),
  '/hop3': redirectTo('./hop2', 307),
  '/hop4': redirectTo('hop3#part', 308),
  '/hop5': redirectTo('/hop4'),
  '/hop6': redirectTo('/hop5'),
  '/loop': redirectTo('/loop'),
  '/nowhere': redirectTo(undefined),
  '/private': redirectTo('http://10.0.0.1/'),
  '/metadata': redirectTo('https://169.254.169.254/latest/meta-data/'),
  '/unmodified': (_request, response) => response.writeHead(304).end(),
  '/missing': (_request, response) => response.writeHead(404).end('no such image'),
  '/broken': (_request, response) => response.writeHead(500).end(),
  '/endless-redirect': (_request, response) => {
    response.writeHead(302, { location: '/image' }).write('never ends')
  },
  '/announced': (_request, response) => begin(response, { 'content-length': 1_000_001 }, 'x'),
  '/endless': (_request, response) => {
    const more = () => {
      while (!response.destroyed && response.write(BODY));
    }
    response.on('drain', more)
    more()
  },
  '/silent': () => {},
  '/drip': (_request, response) => {
    const drop = setInterval(() => response.write('.'), 20)
    response.on('close', () => clearInterval(drop))
  },
  '/drip-headers': ({ socket }) => {
    const text = `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(10_000)}`
    let sent = 0
    const drop = setInterval(() => socket.write(text.charAt(sent++)), 20)
    socket.on('close', () => clearInterval(drop))
  },
  '/cut': (_request, response) => {
    begin(response, { 'content-length': 1_000 }, 'half')
    setImmediate(() => response.destroy())
  },
  '/cut-chunked': (_request, response) => {
    begin(response, {}, 'half')
    setImmediate(() => response.destroy())
  },
  '/interim': ({ socket }) => pourInto(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'),
  '/blank': ({ socket }) => pourInto(socket, '\r\n'),
  '/hang-up': (request) => request.socket.destroy(),
  '/not-http': (request) => request.socket.end('SSH-2.0-OpenSSH_9.6\r\n'),
  '/long-headers': (request) => {
    request.socket.write(`HTTP/1.1 200 OK\r\nx-long: ${'a'.repeat(20_000)}\r\n\r\n`)
  },
}

describe('a download with the switch on', () => {
  const outbound = makeOutbound(ON)
  const folder = useFolder()
  const toFile = join(folder, 'image')
  let requests: IncomingMessage[] = []
  const receiver = useReceiver((request, response) => {
    requests.push(request)
    const path = request.url ?? ''
    const isFollowed = /^\/(image\?a|my%20image$|b%C3%BCcher\?%C3%BC$)/.test(path)
    RESPONSES[isFollowed ? '/image' : path]?.(request, response)
  })
  beforeEach(async () => {
    requests = []
    await rm(toFile, { force: true })
  })

  const from = (path: string, options: Partial<DownloadOptions> = {}, client = outbound) =>
    client.download({
      url: `http://127.0.0.1:${receiver.port}${path}`,
      toFile,
      maxBytes: 1_000_000,
      timeoutMs: PATIENCE_MS,
      maxRedirects: 5,
      ...options,
    })

  const fails = async (downloading: Promise<unknown>, kind: OutboundErrorKind, text?: string) => {
    await assert.rejects(downloading, (error) => {
      assert.ok(error instanceof OutboundError, String(error))
      assert.equal(error.kind, kind, `${error.message}: ${String(error.cause)}`)
      assert.equal(error.message, text ?? OUTBOUND_ERRORS[kind])
      return true
    })
    assert.deepEqual(await readdir(folder), [])
  }

  const isCut = (
    ms: number,
    path: string,
    options?: Partial<DownloadOptions>,
    client = outbound,
  ) => {
    const text = `no complete response within ${ms / 1000} seconds`
    return fails(from(path, { ...options, timeoutMs: ms }, client), 'timeout', text)
  }

  const read = ['/image', '/chunked', '/labelled', '/gzip', '/brotli']
  const followed = ['/hop1', '/hop5', '/endless-redirect', '/to-long', '/to-blank', '/to-utf8']
  for (const path of [...read, ...followed])
    test(`writes the bytes of ${path} and returns their number and digest`, async () => {
      assert.deepEqual(await from(path), { bytes: BODY.length, sha256: SHA256 })
      assert.deepEqual(await readFile(toFile), BODY)
    })

  test('takes as many bytes as the limit', async () => {
    for (const path of ['/image', '/chunked']) {
      assert.equal((await from(path, { maxBytes: BODY.length })).bytes, BODY.length)
      await rm(toFile)
    }
  })

  test('writes an empty file for an empty response', async () => {
    assert.equal((await from('/empty')).bytes, 0)
    assert.equal((await readFile(toFile)).length, 0)
  })

  test('works by the name localhost', async () => {
    const { bytes } = await from('', { url: `http://localhost:${receiver.port}/image` })
    assert.equal(bytes, BODY.length)
  })

  test('reports the bytes written so far', async () => {
    const reported: number[] = []
    await from('/image', { onProgress: (bytes) => reported.push(bytes) })
    assert.equal(reported.at(-1), BODY.length)
    for (const [i, bytes] of reported.entries())
      assert.ok(bytes > (reported[i - 1] ?? -1), `${bytes}`)
  })

  test('sends the same few headers on every hop and asks for no compression', async () => {
    await from('/hop2')
    assert.equal(requests.map(({ url }) => url).join(' '), '/hop2 /hop1 /image')
    for (const { method, headers } of requests) {
      assert.equal(method, 'GET')
      const { host: _host, connection: _connection, ...others } = headers
      const few = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'Kiln' }
      assert.deepEqual(others, few)
    }
  })

  test('follows no proxy of the environment', async (t) => {
    const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY']
    const saved = names.map((name) => [name, process.env[name]] as const)
    t.after(() => {
      for (const [name, value] of saved)
        if (value === undefined) delete process.env[name]
        else process.env[name] = value
    })
    for (const name of names) process.env[name] = 'http://127.0.0.1:1'
    assert.equal((await from('/image')).bytes, BODY.length)
  })

  test('dials nobody for a redirect beyond the fifth', async () => {
    await fails(from('/hop6'), 'too_many_redirects', 'more than 5 redirects')
    assert.equal(requests.length, 6)
    await fails(from('/hop1', { maxRedirects: 0 }), 'too_many_redirects', 'more than 0 redirects')
  })

  const failing: Record<string, [OutboundErrorKind, string?]> = {
    '/loop': ['too_many_redirects', 'more than 5 redirects'],
    '/nowhere': ['status', 'responded with status 302'],
    '/unmodified': ['status', 'responded with status 304'],
    '/missing': ['status', 'responded with status 404'],
    '/broken': ['status', 'responded with status 500'],
    '/private': ['address_refused'],
    '/metadata': ['address_refused'],
    '/bomb': ['too_large', 'over the limit of 1,000,000 bytes'],
    '/no-gzip': ['unknown'],
    '/cut-gzip': ['unknown'],
    '/zstd': ['compressed', 'the response came compressed, and not as gzip or br: zstd'],
    '/twice': ['compressed', 'the response came compressed, and not as gzip or br: gzip, br'],
    '/announced': ['too_large', 'over the limit of 1,000,000 bytes'],
    '/endless': ['too_large', 'over the limit of 1,000,000 bytes'],
    '/cut': ['reset'],
    '/cut-chunked': ['reset'],
    '/interim': ['too_large'],
    '/blank': ['too_large'],
    '/hang-up': ['reset'],
    '/not-http': ['unknown'],
    '/long-headers': ['unknown'],
  }
  for (const [path, [kind, text]] of Object.entries(failing))
    test(`from ${path} fails with ${kind} and leaves no file`, () => fails(from(path), kind, text))

  for (const path of ['/drip', '/drip-headers', '/silent'])
    test(`from ${path} is cut by the deadline and leaves no file`, () => isCut(150, path))

  test('has one deadline over all redirects', async (t) => {
    const slow = await startReceiver((_request, response) => {
      setTimeout(() => response.writeHead(302, { location: '/' }).end(), 60)
    })
    t.after(slow.close)
    await isCut(150, '', { url: `http://127.0.0.1:${slow.port}/`, maxRedirects: 100 })
  })

  test('has its deadline over look-ups that never end', async () => {
    const lost = makeOutbound({ ...ON, resolve: () => new Promise(() => {}) })
    await isCut(50, '', { url: 'https://example.com/' }, lost)
  })

  test('fails with dns for a name without addresses', async () => {
    for (const resolve of [async () => [], () => Promise.reject(new Error('ENOTFOUND'))])
      await fails(
        from('', { url: 'https://example.com/' }, makeOutbound({ ...ON, resolve })),
        'dns',
      )
  })

  test('fails with connect at a closed port', async () => {
    const gone = await startReceiver(() => {})
    await gone.close()
    const url = `http://127.0.0.1:${gone.port}/`
    await fails(from('', { url }), 'connect', 'no connection could be made: the port is closed')
  })

  test('ends with the reason of the signal, before and within the body', async () => {
    const reason = new Error('the task was cancelled')
    const early = AbortSignal.abort(reason)
    await assert.rejects(from('/image', { signal: early }), (error) => error === reason)
    assert.equal(requests.length, 0)

    const controller = new AbortController()
    const onProgress = () => controller.abort(reason)
    const dripping = from('/drip', { signal: controller.signal, onProgress })
    await assert.rejects(dripping, (error) => error === reason)
    assert.deepEqual(await readdir(folder), [])
  })

  test('ends when the client is closed, and none begins after', async () => {
    const client = makeOutbound(ON)
    const downloading = from('/drip', { onProgress: () => client.close() }, client)
    await assert.rejects(downloading, { name: 'AbortError' })
    await assert.rejects(from('/drip', {}, client), { name: 'AbortError' })
    assert.equal(requests.length, 1)
  })

  test('leaves a file alone that was there before', async () => {
    await writeFile(toFile, 'mine')
    await assert.rejects(from('/image'), { code: 'EEXIST' })
    assert.equal(await readFile(toFile, 'utf8'), 'mine')
  })

  test('takes a response whose server hangs up before it is read', async (t) => {
    const head = `HTTP/1.1 200 OK\r\ncontent-length: ${BODY.length}\r\nconnection: close\r\n\r\n`
    const hasty = await listen(
      createServer((socket) => {
        socket.once('data', () => socket.end(Buffer.concat([Buffer.from(head), BODY])))
      }),
    )
    t.after(hasty.close)
    const { sha256 } = await from('', { url: `http://127.0.0.1:${hasty.port}/` })
    assert.equal(sha256, SHA256)
  })

  test('leaves no connection behind', async (t) => {
    const closed: Promise<unknown>[] = []
    const watched = await startReceiver((request, response) => {
      closed.push(new Promise((resolve) => request.socket.once('close', resolve)))
      RESPONSES[request.url ?? '']?.(request, response)
    })
    t.after(watched.close)
    const url = (path: string) => ({ url: `http://127.0.0.1:${watched.port}${path}` })
    await from('', url('/hop2'))
    await rm(toFile)
    for (const path of ['/missing', '/private', '/announced', '/endless'])
      await assert.rejects(from('', url(path)))
    await assert.rejects(from('', { ...url('/silent'), timeoutMs: 50 }))
    assert.equal(closed.length, 8)
    await Promise.all(closed)
  })

  describe('over TLS', () => {
    const certificate = makeCertificate(['127.0.0.1', 'localhost'])
    const foreign = makeCertificate(['images.example.com'])
    const network = { resolve: makeResolver(), openSocket: openSystemSocket }
    const trusting = makeClient(ON, { ...network, ca: certificate.cert })
    const secure = useReceiver((request, response) => {
      if (request.url !== '/down') response.end(BODY)
      else redirectTo(`http://127.0.0.1:${receiver.port}/image`)(request, response)
    }, certificate)

    for (const host of ['127.0.0.1', 'localhost'])
      test(`works at ${host} with a trusted certificate`, async () => {
        const url = `https://${host}:${secure.port}/`
        assert.equal((await from('', { url }, trusting)).sha256, SHA256)
      })

    test('is not redirected to http', async () => {
      const url = `https://localhost:${secure.port}/down`
      await fails(from('', { url }, trusting), 'downgrade')
      assert.equal(requests.length, 0)
    })

    test('is redirected from http to https', async (t) => {
      const upgrading = await startReceiver(redirectTo(`https://127.0.0.1:${secure.port}/`))
      t.after(upgrading.close)
      const url = `http://127.0.0.1:${upgrading.port}/`
      assert.equal((await from('', { url }, trusting)).bytes, BODY.length)
    })

    test('fails with tls at a certificate nobody signed, whatever the environment says', async (t) => {
      const url = `https://127.0.0.1:${secure.port}/`
      await fails(from('', { url }), 'tls', insecure('the certificate is self-signed'))
      t.after(() => delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'])
      process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
      await fails(from('', { url }), 'tls', insecure('the certificate is self-signed'))
    })

    test('fails with tls at the certificate of another host', async (t) => {
      const other = await startReceiver((_request, response) => response.end(), foreign)
      t.after(other.close)
      const client = makeClient(ON, { ...network, ca: foreign.cert })
      const text = insecure('the certificate is not for this host name')
      for (const host of ['127.0.0.1', 'localhost'])
        await fails(from('', { url: `https://${host}:${other.port}/` }, client), 'tls', text)
    })

    test('fails with tls at a server that speaks http, and at one that hangs up', async (t) => {
      const text = insecure('the server does not speak TLS 1.2 or 1.3 at this port')
      await fails(from('', { url: `https://127.0.0.1:${receiver.port}/image` }), 'tls', text)
      const rude = await listen(createServer((socket) => socket.destroy()))
      t.after(rude.close)
      await fails(from('', { url: `https://127.0.0.1:${rude.port}/` }), 'tls')
    })

    test('is cut by the deadline within a handshake that never ends', async (t) => {
      const mute = await listen(createServer(() => {}))
      t.after(mute.close)
      await isCut(100, '', { url: `https://127.0.0.1:${mute.port}/` })
    })
  })
})

describe('an outbound error', () => {
  const codes: Record<OutboundErrorKind, string> = {
    address_refused: 'address_refused',
    redirect_invalid: 'download_failed',
    downgrade: 'address_refused',
    too_large: 'file_too_large',
    dns: 'download_failed',
    connect: 'download_failed',
    tls: 'download_failed',
    timeout: 'download_failed',
    reset: 'download_failed',
    status: 'download_failed',
    too_many_redirects: 'download_failed',
    compressed: 'download_failed',
    unknown: 'download_failed',
  }
  for (const [kind, code] of Object.entries(codes))
    test(`of kind ${kind} ends an image task with ${code} and names the field`, () => {
      const error = new OutboundError(kind as OutboundErrorKind)
      const taskError = toTaskError(error, { field: '/image', url: 'https://a.example/' })
      assert.equal(taskError.code, code)
      assert.equal(taskError.message, `/image: ${error.message}`)
    })

  test('names host and port of the address that a caller gave, and of no other', () => {
    const error = new OutboundError('connect')
    error.at = 'a.example:443'
    const messageOf = (url: string) => toTaskError(error, { field: '/image', url }).message
    assert.equal(messageOf('https://a.example/x'), `/image: ${error.message} (a.example:443)`)
    for (const url of ['https://a.example:8443/x', 'https://b.example/x', ''])
      assert.equal(messageOf(url), `/image: ${error.message}`)
  })

  test('shows nothing of the error behind it', () => {
    const error = toOutboundError(new Error('connect ECONNREFUSED 10.0.0.1:443'))
    assert.equal(error.kind, 'unknown')
    assert.equal(error.message, OUTBOUND_ERRORS.unknown)
  })
})
