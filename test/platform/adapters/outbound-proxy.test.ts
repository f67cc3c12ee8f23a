import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { beforeEach, describe, test } from 'node:test'

import { HeadBucketCommand } from '@aws-sdk/client-s3'

import { makeFetchKeys, readKeySet } from '../../../src/identity/adapters/key-set.ts'
import { makeEvents } from '../../../src/engines/comfyui/events.ts'
import { describeCauses } from '../../../src/platform/domain/causes.ts'
import { makeClient } from '../../../src/platform/outbound/client.ts'
import { openSystemSocket } from '../../../src/platform/outbound/connector.ts'
import { OutboundError } from '../../../src/platform/outbound/error.ts'
import { POST_LIMITS, type Posted } from '../../../src/platform/outbound/post.ts'
import { makeProxy } from '../../../src/platform/outbound/proxy.ts'
import type { ProxyRules } from '../../../src/platform/outbound/proxy.ts'
import { makeS3Client } from '../../../src/platform/storage/s3-client.ts'
import { makeCertificate } from '../../support/certificate.ts'
import { useFolder } from '../../support/folder.ts'
import { useForwardProxy } from '../../support/forward-proxy.ts'
import { listen } from '../../support/network.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { respond, useWebhookReceiver } from '../../support/receiver.ts'
import { waitFor } from '../../support/wait.ts'

const PUBLIC = '93.184.215.14'
const FURTHER = '2606:2800:21f:cb07:6820:80da:af6b:8b2c'
const PASSWORD = 'pass/word of a proxy'
const USER = `Basic ${Buffer.from(`kiln:${PASSWORD}`).toString('base64')}`
const LIMITS = {
  ...POST_LIMITS,
  connectMs: PATIENCE_MS,
  headersMs: PATIENCE_MS,
  totalMs: PATIENCE_MS,
}

const NAMES: Record<string, string[]> = {
  'hooks.example': [PUBLIC],
  'twice.example': [PUBLIC, FURTHER],
  'private.example': ['10.0.0.5'],
  'both.example': [PUBLIC, '10.0.0.5'],
  'engine.example': ['127.0.0.1'],
}
const folder = useFolder()
const certificate = makeCertificate([...Object.keys(NAMES), 'unknown.example', '127.0.0.1', PUBLIC])
const receiver = useWebhookReceiver({ certificate })
const proxy = useForwardProxy(() => receiver.port)
const secured = useForwardProxy(() => receiver.port, certificate)

let resolved: string[]
beforeEach(() => {
  resolved = []
  proxy.asked.length = 0
  proxy.authorizations.length = 0
  proxy.script(() => 200)
  receiver.received.length = 0
})

const proxyUrl = (port = proxy.port, scheme = 'http'): string =>
  `${scheme}://kiln:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}`

const open = (rules: Partial<ProxyRules> = {}, trusted?: string) =>
  makeClient(
    {
      allowLoopback: false,
      ports: [],
      deny: [],
      trusted,
      proxy: { url: proxyUrl(), resolves: false, bypass: [], ...rules },
    },
    {
      resolve: async (host) => {
        resolved.push(host)
        return NAMES[host] ?? assert.fail(`no addresses for ${host}`)
      },
      openSocket: openSystemSocket,
      ca: certificate.cert,
    },
  )

const send = async (url: string, rules: Partial<ProxyRules> = {}, trusted?: string) => {
  const client = open(rules, trusted)
  try {
    return await client.post({ url, headers: {}, body: Buffer.from('{}'), limits: LIMITS })
  } finally {
    client.close()
  }
}

const isDelivered = (posted: Posted): void =>
  assert.equal(posted.status, 204, posted.errorClass && describeCauses(posted.cause))

describe('a proxy that is the only way out', () => {
  test('connects a webhook to the address that was checked, and TLS keeps the name', async () => {
    const posted = await send('https://hooks.example/a')
    isDelivered(posted)
    assert.equal(posted.address, PUBLIC)
    assert.deepEqual(proxy.asked, [`${PUBLIC}:443`])
    assert.deepEqual(proxy.authorizations, [USER])
    // The certificate is for the name alone, and so is the Host.
    assert.equal(receiver.of('/a')[0]?.headers.host, 'hooks.example')
  })

  test('is asked once for messages that share a connection', async () => {
    const client = open()
    const url = 'https://hooks.example/b'
    for (let sent = 0; sent < 2; sent += 1) {
      const located = await client.locate({ url })
      const message = { url, headers: {}, body: Buffer.from('{}'), limits: LIMITS, located }
      isDelivered(await client.post(message))
    }
    client.close()
    assert.deepEqual(proxy.asked, [`${PUBLIC}:443`])
  })

  test('is not asked for names and addresses of private networks', async () => {
    const urls = ['https://private.example/', 'https://both.example/', 'https://10.0.0.5/']
    for (const url of [...urls, 'https://metadata.internal/', 'https://169.254.169.254/']) {
      const { errorClass } = await send(url, { bypass: ['private.example', '10.0.0.0/8'] })
      assert.equal(errorClass, 'address_refused', url)
    }
    assert.deepEqual(proxy.asked, [])
    assert.equal(receiver.received.length, 0)
  })

  test('fetches a file, and each redirect is checked before it is asked', async () => {
    receiver.script('/file', respond(200, {}, 'bytes'))
    receiver.script('/near', respond(302, { location: 'https://hooks.example/file' }))
    receiver.script('/far', respond(302, { location: 'https://private.example/file' }))
    const client = open()
    const limits = { maxBytes: 100, timeoutMs: PATIENCE_MS, maxRedirects: 3 }
    const toFile = join(folder, 'file')
    const { bytes } = await client.download({ url: `https://${PUBLIC}/near`, toFile, ...limits })
    assert.equal(bytes, 5)
    assert.deepEqual(proxy.asked, [`${PUBLIC}:443`, `${PUBLIC}:443`])
    await assert.rejects(
      client.read({ url: `https://${PUBLIC}/far`, ...limits }),
      (error) => error instanceof OutboundError && error.kind === 'address_refused',
    )
    client.close()
  })

  test('is given names where it is to resolve them, and nothing that the rules reject', async () => {
    const rules = { resolves: true }
    const posted = await send('https://unknown.example/c', rules)
    isDelivered(posted)
    assert.equal(posted.address, 'unknown.example')
    for (const url of ['https://10.0.0.5/', 'https://metadata.internal/', 'https://short/'])
      assert.equal((await send(url, rules)).errorClass, 'address_refused', url)
    isDelivered(await send(`https://${PUBLIC}/d`, rules))
    assert.deepEqual(proxy.asked, ['unknown.example:443', `${PUBLIC}:443`])
    assert.deepEqual(resolved, [])
    // What goes past it is resolved here, and checked.
    const past = await send('https://private.example/', { ...rules, bypass: ['.example'] })
    assert.equal(past.errorClass, 'address_refused')
    assert.deepEqual(resolved, ['private.example'])
  })

  test('is passed by names, suffixes and addresses of OUTBOUND_NO_PROXY, and by this machine', async () => {
    const near = `https://engine.example:${receiver.port}`
    // Loopback, so that a bypass reaches the receiver.
    isDelivered(await send(`${near}/e`, {}, near))
    const here = `https://127.0.0.1:${receiver.port}`
    isDelivered(await send(`${here}/e`, {}, here))
    assert.deepEqual(proxy.asked, [])
    const { isBypassed } = makeProxy({
      url: proxyUrl(),
      resolves: false,
      bypass: ['minio', '.Svc.Local', '10.0.0.0/8', 'fd00::/8', '192.0.2.1'],
    })
    const rows: [host: string, addresses: string[], isPast: boolean][] = [
      ['minio', [], true],
      ['minio.example', [], false],
      ['a.b.svc.local', [], true],
      ['svc.local', [], false],
      ['xsvc.local', [], false],
      ['10.1.2.3', [], true],
      ['11.1.2.3', [], false],
      ['fd00::1', [], true],
      ['192.0.2.1', [], true],
      ['192.0.2.2', [], false],
      ['s3.example', ['10.1.2.3'], true],
      ['s3.example', ['10.1.2.3', PUBLIC], false],
      ['localhost', [], true],
      ['::1', [], true],
    ]
    for (const [host, addresses, isPast] of rows)
      assert.equal(isBypassed(host, addresses), isPast, `${host} ${addresses.join()}`)
  })

  test('may be reached by TLS', async () => {
    isDelivered(await send('https://hooks.example/f', { url: proxyUrl(secured.port, 'https') }))
    assert.deepEqual(secured.asked, [`${PUBLIC}:443`])
  })

  test('is asked for the next address where it cannot reach the first', async () => {
    proxy.script((authority) => (authority.startsWith(PUBLIC) ? 502 : 200))
    isDelivered(await send('https://twice.example/g'))
    assert.deepEqual(proxy.asked, [`${PUBLIC}:443`, `[${FURTHER}]:443`])
  })

  test('that lets nothing through is named to the operator alone, and its password to nobody', async () => {
    const closed = await listen(createServer())
    await closed.close()
    const rows: [status: number, url: string, shown: RegExp, cause: RegExp][] = [
      [407, proxyUrl(), /does not let it through$/, /with status 407: correct user and password/],
      [403, proxyUrl(), /does not let it through$/, /with status 403: allow it there, or add/],
      [504, proxyUrl(), /does not let it through$/, /with status 504: it cannot reach that itself/],
      [200, proxyUrl(closed.port), /does not respond$/, /does not respond: start it, or correct/],
    ]
    for (const [status, url, shown, cause] of rows) {
      proxy.script(() => status)
      const posted = await send('https://hooks.example/h', { url })
      assert.equal(posted.errorClass, 'connect')
      assert.match(posted.reason, shown)
      assert.match(describeCauses(posted.cause), cause)
      assert.match(describeCauses(posted.cause), /^OUTBOUND_PROXY http:\/\/127\.0\.0\.1:\d+ /)
      const all = JSON.stringify(posted) + describeCauses(posted.cause)
      assert.ok(![PASSWORD, encodeURIComponent(PASSWORD), USER].some((text) => all.includes(text)))
    }
    assert.equal(receiver.received.length, 0)
  })

  test('is asked nothing more once an attempt is given up', async () => {
    const silent = createServer()
    const { port, close } = await listen(silent)
    const connected = once(silent, 'connection')
    const client = open({ url: proxyUrl(port) })
    const { signal, abort } = abortable()
    const posted = client.post({
      url: 'https://hooks.example/',
      headers: {},
      limits: LIMITS,
      signal,
    })
    await connected
    abort()
    await assert.rejects(posted, /given up/)
    client.close()
    await close()
  })
})

const abortable = () => {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort(new Error('given up')) }
}

describe('servers that an operator has named are reached through the proxy', () => {
  const plain = useWebhookReceiver()
  const way = useForwardProxy(() => plain.port)
  const rules = () => ({
    proxy: { url: `http://127.0.0.1:${way.port}`, resolves: true, bypass: [] },
  })
  beforeEach(() => {
    way.asked.length = 0
  })

  test('for the keys of the issuer', async () => {
    const url = 'http://issuer.example/keys'
    plain.script('/keys', respond(200, {}, '{"keys":[]}'))
    const outbound = { allowLoopback: false, ports: [], deny: [], ...rules() }
    assert.equal(await readKeySet(url, makeFetchKeys(url, outbound)), 0)
    assert.deepEqual(way.asked, ['issuer.example:80'])
  })

  test('by the SDK of S3', async () => {
    const client = makeS3Client({
      ...rules(),
      endpoint: 'http://s3.example:9000',
      region: 'us-east-1',
      bucket: 'files',
      prefix: '',
      pathStyle: true,
      credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
    })
    await client.send(new HeadBucketCommand({ Bucket: 'files' }))
    client.destroy()
    assert.deepEqual(way.asked, ['s3.example:9000'])
    assert.equal(plain.received.at(-1)?.headers.host, 's3.example:9000')
  })

  test('by the events of a ComfyUI', async () => {
    const outbound = { allowLoopback: false, ports: [], deny: [], ...rules() }
    const events = makeEvents({ url: 'http://comfyui.example:8188', token: '', outbound })
    const followed = events.listen('prompt', PATIENCE_MS)
    await waitFor('the proxy is asked', () => way.asked.length > 0)
    followed.close()
    assert.deepEqual(way.asked, ['comfyui.example:8188'])
  })
})

describe('settings of the proxy', () => {
  const read = (given: Partial<ProxyRules>) => () =>
    makeProxy({ url: 'http://proxy', resolves: false, bypass: [], ...given })

  test('are a URL with nothing behind its port', () => {
    for (const url of ['http://proxy:3128', 'https://u:p%40@proxy.example', 'http://[::1]:3128/'])
      assert.doesNotThrow(read({ url }), url)
    const wrong = ['proxy:3128', 'socks5://u:secret@proxy:1080', 'http://u:secret@proxy/path']
    for (const url of [
      ...wrong,
      'http://u:secret%zz@proxy',
      'http://proxy?secret',
      'http://proxy#a',
    ])
      assert.throws(read({ url }), /^Error: OUTBOUND_PROXY must be http:(?!.*secret)/, url)
  })

  test('are names, suffixes, addresses and networks', () => {
    const bypass = ['minio', '.Example.com', '10.0.0.0/8', '::1', 'fd00::/8']
    assert.doesNotThrow(read({ bypass }))
    for (const entry of ['*', '*.example.com', 'http://minio', '10.0.0.0/33', 'minio:9000'])
      assert.throws(read({ bypass: [entry] }), /OUTBOUND_NO_PROXY holds .*; write /, entry)
  })
})
