import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { EventEmitter, once } from 'node:events'
import { readdir, rm } from 'node:fs/promises'
import { connect, createServer, isIP } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { OutboundError } from '../../../src/platform/outbound/error.ts'
import { makeOutbound } from '../../../src/platform/outbound/outbound.ts'
import { makeClient } from '../../../src/platform/outbound/client.ts'
import type { Dial } from '../../../src/platform/outbound/connector.ts'
import { makeCertificate } from '../../support/certificate.ts'
import { useFolder } from '../../support/folder.ts'
import { listen, makeTestNetwork, useReceiver } from '../../support/network.ts'
import { PATIENCE_MS } from '../../support/patience.ts'

const OFF = { allowLoopback: false, ports: [], deny: [] }
const PUBLIC = '93.184.215.14'
const URL_OF_IMAGES = 'https://images.example.com/'

const words = (text: string) => text.trim().split(/\s+/)

/** Rejected as a literal, as the result of a resolver and, marked *, as the target of a redirect. */
const ADDRESSES: Record<string, string> = {
  'unspecified, loopback': '0.0.0.0* 0.1.2.3 :: 127.0.0.1* 127.255.255.254 ::1*',
  private: '10.0.0.1* 172.16.0.1 172.31.255.254 192.168.1.1 fc00::1 fd12:3456::1',
  'link-local, cloud metadata': `169.254.169.254* 169.254.170.2 169.254.170.23 fe80::1 fd00:ec2::254 fd20:ce::254
    100.100.100.200 192.0.0.192 168.63.129.16`,
  'shared, protocol, benchmark, AS112, AMT': `100.64.0.1 100.127.255.254 192.0.0.8 198.18.0.1 198.19.255.254
    192.88.99.1 192.31.196.1 192.52.193.1 192.175.48.1 2001:2::1 2001:4:112::1 2620:4f:8000::1`,
  'documentation, multicast, reserved': `192.0.2.1 198.51.100.1 203.0.113.1 2001:db8::1 3fff::1 224.0.0.1
    239.255.255.255 ff02::1 240.0.0.1 255.255.255.255 fec0::1 100::1 5f00::1 2001:10::1 2001:20::1`,
  'IPv4 inside IPv6': `::ffff:127.0.0.1* ::ffff:10.0.0.1 ::127.0.0.1 ::ffff:0:127.0.0.1 64:ff9b::7f00:1
    64:ff9b::808:808 64:ff9b:1::1 2002:7f00:1:: 2002:808:808:: 2001:0:7f00:1::`,
  'not assigned by IANA':
    '::7f00:1 ::8.8.8.8 ::ffff:7f00:1 100:0:0:1::1 1000::1 4000::1 8000::1 fe00::1',
  'not an address': 'fe80::1%eth0 0177.0.0.1 2130706433 example.com',
}

const LISTED = Object.entries(ADDRESSES).flatMap(([kind, text]) =>
  words(text).map((word) => ({
    kind,
    address: word.replace('*', ''),
    redirect: word.endsWith('*'),
  })),
)
const LITERALS = LISTED.filter(({ address }) => isIP(address) !== 0 && !address.includes('%'))

const SOFT_HYPHEN = '\u00ad'

/** Rejected before anything is looked up. */
const URLS: Record<string, string[]> = {
  'number spellings':
    words(`2130706433 0x7f000001 0177.0.0.1 00000177.0.0.01 017700000001 127.1 127.0.1 0x7f.1
    0x7f.0x0.0x0.0x1 127.0.0.1. 0 2852039166 0xA9FEA9FE 0251.0376.0251.0376`).map(
      (host) => `https://${host}/`,
    ),
  'text spellings':
    words(`①②⑦.⓪.⓪.① 127。0。0。1 %31%32%37.0.0.1 127.0.${SOFT_HYPHEN}0.1 1${SOFT_HYPHEN}27.0.0.1
    local${SOFT_HYPHEN}host LOCALHOST localhost. ⓛocalhost [0:0:0:0:0:ffff:127.0.0.1] [::ffff:7f00:1]`).map(
      (host) => `https://${host}/`,
    ),
  'slashes and users': words(`https:127.0.0.1/ https:///127.0.0.1/ https://example.com@127.0.0.1/
    https://user:p@example.com/ https://user@example.com/ https://:p@example.com/
    https://127.0.0.1#@example.com/ https://127.0.0.1%2f@example.com/ https://example.com\\@127.0.0.1/`),
  'blanks and controls': [
    'https://exam\tple.com/',
    'https://example.com/a\rb',
    ...['\u00a0b', '\u007f', '\u0085', '\u0000'].map((sign) => `https://example.com/${sign}`),
  ],
  'not a URL': [
    ...words(`256.1.1.1 1.2.3.4.5 0x100000000 4294967296 08.0.0.1 [fe80::1%25eth0] [fe80::1%eth0]
      example.com:99999 exa%00mple.com`).map((host) => `https://${host}/`),
    ...'https://a b/,a b,//127.0.0.1/,/x.png,example.com,https://,'.split(','),
  ],
  scheme: [
    'http://example.com/',
    'http://127.0.0.1/',
    ...words('ftp: file: gopher: ws: wss:').map((scheme) => `${scheme}//example.com/`),
    'file:///etc/passwd',
    'data:image/png;base64,AAAA',
    'blob:https://example.com/1',
    'javascript:alert(1)',
  ],
  port: [0, 22, 25, 80, 6379].map((port) => `https://example.com:${port}/`),
  name: words(`x.localhost metadata.google.internal printer.local intranet home.arpa x.home.arpa. localhost
    X.LocalHost example.com.. 1.2.3.4.. a..example.com .example.com .`).map(
    (host) => `https://${host}/`,
  ),
  length: [`https://example.com/${'a'.repeat(8_173)}`, `https://example.com/${'😀'.repeat(8_173)}`],
}

const literal = (address: string) =>
  isIP(address) === 6 ? `https://[${address}]/` : `https://${address}/`

describe('a URL with the switch off', () => {
  const outbound = makeOutbound(OFF)

  for (const { kind, address } of LITERALS)
    test(`is rejected for the literal ${address} (${kind})`, () => {
      const { rejected } = outbound.validateUrl(literal(address))
      assert.equal(rejected, 'must name a public address')
    })

  for (const [kind, urls] of Object.entries(URLS))
    for (const url of urls)
      test(`is rejected for its ${kind}: ${JSON.stringify(url).slice(0, 60)}`, () => {
        const { rejected } = outbound.validateUrl(url)
        assert.match(String(rejected), /^must /)
        // The sentence is about the text that was sent, never about what stands at an address.
        assert.doesNotMatch(String(rejected), /127|169|loopback|private|metadata/)
      })

  const passing = {
    'https://example.com': 'https://example.com/',
    'https://EXAMPLE.com.:443/a?b=c#d': 'https://example.com/a?b=c',
    'https://example.com:8443/': 'https://example.com:8443/',
    'https://bücher.example/': 'https://xn--bcher-kva.example/',
    ' https://8.8.8.8/\n': 'https://8.8.8.8/',
    'https://[2001:4860:4860::8888]/': 'https://[2001:4860:4860::8888]/',
    'https://localhost.example.com/': 'https://localhost.example.com/',
    'https://notlocal.example/%00?q=%0a': 'https://notlocal.example/%00?q=%0a',
    [`https://example.com/${'a'.repeat(8_172)}`]: `https://example.com/${'a'.repeat(8_172)}`,
  }
  for (const [raw, href] of Object.entries(passing))
    test(`passes: ${raw.slice(0, 60)}`, () =>
      assert.equal(outbound.validateUrl(raw).url?.href, href))

  test('passes on a port of OUTBOUND_PORTS', () => {
    const { validateUrl } = makeOutbound({ ...OFF, ports: [9443] })
    assert.ok(validateUrl('https://example.com:9443/').url)
    assert.ok(validateUrl('https://example.com:443/').url)
    const { rejected } = validateUrl('https://example.com:22/')
    assert.equal(rejected, 'must use one of the ports 443, 8443, 9443')
    const loose = makeOutbound({ ...OFF, allowLoopback: true })
    assert.equal(loose.validateUrl('https://127.0.0.1:0/').rejected, 'must use a port above 0')
  })

  test('is rejected for an address of OUTBOUND_DENY', () => {
    const { validateUrl } = makeOutbound({ ...OFF, deny: ['8.8.0.0/16', '2600::/16', '1.1.1.1'] })
    for (const host of ['8.8.8.8', '[::ffff:8.8.8.8]', '[2600::1]', '1.1.1.1'])
      assert.equal(validateUrl(`https://${host}/`).rejected, 'must name a public address')
    for (const host of ['8.9.8.8', '[2601::1]', '1.1.1.2'])
      assert.ok(validateUrl(`https://${host}/`).url)
  })

  for (const entry of [
    '',
    ...words('8.8.8.8/33 8.8.8.8/ 8.8.8.8/8/8 8.8/16 x ::ffff:8.8.0.0/112 ::/-1'),
  ])
    test(`is not checked with the malformed OUTBOUND_DENY ${JSON.stringify(entry)}`, () =>
      assert.throws(() => makeOutbound({ ...OFF, deny: [entry] }), /OUTBOUND_DENY holds .* write/))
})

describe('a URL with the switch on', () => {
  const { validateUrl } = makeOutbound({ ...OFF, allowLoopback: true })

  for (const url of words(`http://127.0.0.1:1234/ http://127.255.255.254:22/ http://[::1]:80/ http://localhost:6379/
    https://localhost./ https://127.0.0.1:9/ http://LOCALHOST/ https://example.com/`))
    test(`passes: ${url}`, () => assert.ok(validateUrl(url).url))

  for (const url of words(`http://example.com/ https://example.com:22/ http://10.0.0.1/ https://10.0.0.1/
    http://x.localhost/ https://x.localhost/ https://printer.local/ https://intranet/ ftp://localhost/
    http://u:p@localhost/ http://0.0.0.0/ https://0.0.0.0/ http://[::]/ https://169.254.169.254/
    https://[::ffff:127.0.0.2]:22/ https://[::ffff:10.0.0.1]/ http://[::ffff:7f00:1]/ https://[::7f00:1]/`))
    test(`is rejected: ${url}`, () => assert.match(String(validateUrl(url).rejected), /^must /))

  test('is rejected for a loopback address of OUTBOUND_DENY', () => {
    const strict = makeOutbound({ ...OFF, allowLoopback: true, deny: ['127.0.0.2'] })
    assert.equal(strict.validateUrl('http://127.0.0.2/').rejected, 'must name a public address')
    assert.ok(strict.validateUrl('http://127.0.0.3/').url)
  })
})

/** Addresses that a name resolves to, any one of which must reject it. */
const RESPONSES: Record<string, string[]> = {
  ...Object.fromEntries(LISTED.map(({ kind, address }) => [`${address} (${kind})`, [address]])),
  'a public and a private address': ['8.8.8.8', '10.0.0.1'],
  'a private and a public address': ['10.0.0.1', '8.8.8.8'],
  'a good A, a bad AAAA': [PUBLIC, 'fd00::1'],
  'a good AAAA, a bad A': ['2001:4860:4860::8888', '127.0.0.1'],
}

const isRejection = (error: unknown) => {
  assert.ok(error instanceof OutboundError, String(error))
  assert.equal(error.kind, 'address_refused', `${error.message}: ${String(error.cause)}`)
  assert.equal(error.message, 'address not allowed')
  assert.equal(error.cause, undefined)
  return true
}

describe('a download', () => {
  const folder = useFolder()
  const toFile = join(folder, 'image')
  const certificate = makeCertificate(['images.example.com', 'other.example.com'])
  const served: string[] = []
  const receiver = useReceiver((request, response) => {
    const { servername } = request.socket as TLSSocket
    served.push(`${String(servername)} ${request.headers.host}`)
    const { searchParams } = new URL(request.url ?? '/', URL_OF_IMAGES)
    const location = searchParams.get('to')
    if (location === null) response.end('image')
    else response.writeHead(302, { location }).end('elsewhere')
  }, certificate)

  const limits = { maxBytes: 1_000, timeoutMs: PATIENCE_MS, maxRedirects: 5 }
  const rejected = async (downloading: Promise<unknown>) => {
    await assert.rejects(downloading, isRejection)
    assert.deepEqual(await readdir(folder), [])
  }

  for (const [title, addresses] of Object.entries(RESPONSES))
    test(`from a name that resolves to ${title} opens no socket`, async () => {
      const lookups: string[] = []
      const outbound = makeOutbound({
        ...OFF,
        resolve: async (host) => {
          lookups.push(host)
          return addresses
        },
      })
      const options = { ...limits, url: URL_OF_IMAGES, toFile }
      assert.equal(await countSockets(() => rejected(outbound.download(options))), 0)
      const located = await outbound.locate({ url: URL_OF_IMAGES })
      assert.deepEqual([located.addresses, located.error?.kind], [[], 'address_refused'])
      assert.deepEqual(lookups, ['images.example.com', 'images.example.com'])
    })

  for (const url of [...LITERALS.map(({ address }) => literal(address)), 'http://127.0.0.1/', 'x'])
    test(`from ${url} looks nothing up and opens no socket`, async () => {
      const outbound = makeOutbound({ ...OFF, resolve: () => assert.fail('looked up') })
      const download = () => outbound.download({ ...limits, url, toFile })
      assert.equal(await countSockets(() => rejected(download())), 0)
    })

  const clientOf = (responses: Record<string, string[][]>) => {
    const network = makeTestNetwork(receiver.port, certificate.cert, responses)
    const client = makeClient(OFF, network)
    const from = (path: string) => client.download({ ...limits, url: URL_OF_IMAGES + path, toFile })
    return { network, from }
  }

  const targets = [
    ...LISTED.filter(({ redirect }) => redirect).flatMap(({ address }) => [
      { title: literal(address), to: literal(address), response: undefined },
      { title: `a name for ${address}`, to: 'https://other.example.com/', response: [address] },
    ]),
    ...[
      ...words(`//127.0.0.1/ http://127.0.0.1/ http://images.example.com/ https://images.example.com:22/
        https://u:p@images.example.com/ https://metadata.google.internal/ file:///etc/passwd`),
    ].map((to) => ({ title: to.slice(0, 40), to, response: undefined })),
  ]
  for (const { title, to, response } of targets)
    test(`that is redirected to ${title} is rejected after one connection`, async () => {
      const { network, from } = clientOf({
        'images.example.com': [[PUBLIC]],
        ...(response && { 'other.example.com': [response] }),
      })
      await rejected(from(`?to=${encodeURIComponent(to)}`))
      const dialled = network.dialled.map(({ addresses }) => addresses)
      assert.deepEqual(dialled, [[PUBLIC]])
    })

  test('dials only the addresses it checked, under the name of the host', async () => {
    const { network, from } = clientOf({ 'images.example.com': [[PUBLIC, '2001:4860:4860::8888']] })
    served.length = 0
    assert.equal((await from('')).bytes, 5)
    await rm(toFile)
    assert.deepEqual(served, ['images.example.com images.example.com'])
    assert.equal(network.dialled.length, 1)
    assert.equal(network.dialled[0]?.port, 443)
    assert.deepEqual(network.dialled[0]?.addresses, [PUBLIC, '2001:4860:4860::8888'])
    assert.deepEqual(network.lookups, ['images.example.com'])
  })

  test('from a name that turns to loopback at its second look-up is rejected', async () => {
    const { network, from } = clientOf({ 'images.example.com': [[PUBLIC], ['127.0.0.1']] })
    await rejected(from('?to=%2Fagain'))
    assert.deepEqual(network.lookups, ['images.example.com', 'images.example.com'])
    assert.equal(network.dialled.length, 1)
  })

  test('that is redirected to no address says so, not that it is not allowed', async () => {
    const { network, from } = clientOf({ 'images.example.com': [[PUBLIC]] })
    await assert.rejects(from('?to=https%3A%2F%2F%5B'), { kind: 'redirect_invalid' })
    assert.equal(network.dialled.length, 1)
  })

  test('sends nothing to a peer other than the checked one', async (t) => {
    const received: Buffer[] = []
    const ended = new EventEmitter()
    const canary = await listen(
      createServer((socket) =>
        socket.on('data', (chunk) => received.push(chunk)).on('close', () => ended.emit('close')),
      ),
    )
    t.after(canary.close)
    const responses = { 'images.example.com': [[PUBLIC]] }
    const network = makeTestNetwork(canary.port, certificate.cert, responses)
    // The peer is what the system says it is: loopback.
    const openSocket = ({ signal }: Dial) =>
      connect({ host: '127.0.0.1', port: canary.port, signal })
    const client = makeClient(OFF, { ...network, openSocket })
    const closed = once(ended, 'close')
    await rejected(client.download({ ...limits, url: URL_OF_IMAGES, toFile }))
    await closed
    assert.deepEqual(received, [])
  })
})

/** Counts the TCP sockets that this process opens meanwhile, whoever opens them. */
const countSockets = async (work: () => Promise<unknown>): Promise<number> => {
  let opened = 0
  const count = () => void (opened += 1)
  subscribe('net.client.socket', count)
  try {
    await work()
  } finally {
    unsubscribe('net.client.socket', count)
  }
  return opened
}
