import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { writeFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, mock, test } from 'node:test'

import { makeBudget } from '../../../src/platform/json-body/budget.ts'
import type { Route } from '../../../src/platform/http/route.ts'
import type { ServerOptions } from '../../../src/platform/http/serve/server.ts'
import {
  makeSendQueue,
  closeSlowReaders,
  READER_PACES,
} from '../../../src/platform/http/serve/slow-reader.ts'
import { makeFolder } from '../../support/folder.ts'
import { makeRoute, startRoutes, type RouteServer } from '../../support/routes.ts'
import { waitFor } from '../../support/wait.ts'

describe('a connection', () => {
  /** Returns when a client is closed that takes so many bytes a second of an endless response, for ten minutes. */
  const secondsUntilClosed = (bytesPerSecond: number, unsent = 1): number | undefined => {
    mock.timers.enable({ apis: ['setInterval'] })
    let closedAfter: number | undefined
    let second = 0
    const server = new EventEmitter()
    closeSlowReaders(server as Server, READER_PACES)
    const socket = Object.assign(new EventEmitter(), {
      bytesWritten: unsent,
      writableLength: unsent,
      destroy: () => (closedAfter ??= second),
    })
    server.emit('connection', socket)
    for (second = 1; second <= 600; second += 1) {
      socket.bytesWritten += bytesPerSecond
      mock.timers.tick(1000)
    }
    socket.emit('close')
    mock.timers.reset()
    return closedAfter
  }

  const CASES: [title: string, seconds: [number, number] | undefined, ...number[]][] = [
    ['whose client takes nothing is closed after 30 s', [30, 33], 0],
    ['whose client takes 15 KiB/s is closed after a minute', [60, 66], 15 * 1024],
    ['whose client takes 17 KiB/s stays open', undefined, 17 * 1024],
    ['with nothing to send stays open', undefined, 0, 0],
  ]
  for (const [title, seconds, pace = 0, unsent] of CASES)
    test(title, () => {
      const closedAfter = secondsUntilClosed(pace, unsent)
      if (!seconds) assert.equal(closedAfter, undefined)
      else
        assert.ok(
          closedAfter !== undefined && closedAfter >= seconds[0] && closedAfter <= seconds[1],
          `${closedAfter} s`,
        )
    })
})

test('what the system holds of a connection is read from its table', async (t) => {
  const folder = await makeFolder(t)
  const line = (address: string, port: string, queue: string) =>
    `   0: 0100007F:1F90 ${address}:${port} 01 ${queue}:00000000 02:000 00000000  0 0 25 1 0 20 4 30 10 -1\n`
  const table = join(folder, 'tcp')
  await writeFile(
    table,
    '  sl  local_address rem_address   st tx_queue rx_queue\n' +
      line('0200007F', 'D431', '00000400') +
      line('0300007F', 'D431', '00000000') +
      line('B80D0120000000000000000007000000', 'D431', '00200000') +
      line('0000000000000000FFFF00000200007F', 'D432', '0000000A'),
  )
  const queued = makeSendQueue([table, join(folder, 'none')])
  const of = (remoteAddress: string, remotePort = 54_321) =>
    queued({ localPort: 8080, remotePort, remoteAddress } as Socket)
  assert.deepEqual(
    [of('127.0.0.2'), of('127.0.0.3'), of('2001:db8::7'), of('::ffff:127.0.0.2', 54_322)],
    [1024, 0, 2_097_152, 10],
  )
  assert.deepEqual([of('127.0.0.4'), of('127.0.0.2', 1)], [0, 0])
})

/** More than the system takes for both ends of a connection. */
const BYTES = 16_000_000

const ofBytes = (bytes: number): Partial<Route> => ({
  handler: () => Promise.resolve({ status: 200, body: { text: 'x'.repeat(bytes) } }),
})

describe('large responses', () => {
  const budget = makeBudget({ unsent: { total: 4 * BYTES, share: 2 * BYTES } })
  const start = (options: ServerOptions) =>
    startRoutes(
      [
        makeRoute('get', '/large', ofBytes(BYTES)),
        makeRoute('get', '/small', ofBytes(1000)),
        makeRoute('post', '/large', ofBytes(BYTES)),
        makeRoute('post', '/read', { ...ofBytes(BYTES), readsOnly: true }),
      ],
      { budget, trustProxy: ['127.0.0.0/8'], server: options },
    )
  let server: RouteServer

  before(async () => {
    server = await start({ readerPaces: [] })
  })
  after(() => server.close())

  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })
  /** Asks for a large response and never reads. */
  const ask = (address: string, { url } = server): Socket => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname).pause()
    socket.on('error', () => {})
    socket.write(`GET /large HTTP/1.1\r\nHost: kiln\r\nX-Forwarded-For: ${address}\r\n\r\n`)
    return socket
  }
  const used = () => Math.round(budget.used().unsent / BYTES)

  test('arrive whole at whoever reads them', async () => {
    const response = await fetch(`${server.url}/large`)
    assert.match(response.headers.get('content-type') ?? '', /^application\/json; charset=utf-8$/)
    const text = await response.text()
    assert.equal(response.headers.get('content-length'), String(text.length))
    assert.deepEqual(JSON.parse(text), { text: 'x'.repeat(BYTES) })
    const head = await fetch(`${server.url}/large`, { method: 'HEAD' })
    assert.equal(head.headers.get('content-length'), String(text.length))
    await waitFor('nothing is unsent', async () => budget.used().unsent === 0)
  })

  test('that nobody reads are rejected beyond a budget', async () => {
    const [one, other, third] = ['192.0.2.1', '192.0.2.2', '192.0.2.3']
    const sockets = [ask(one), ask(one)]
    await waitFor('two are under way', async () => used() === 2)
    const get = (path: string, address: string, method = 'GET') =>
      fetch(server.url + path, { method, ...from(address) })
    const errorOf = async (response: Response) => [
      response.status,
      ((await response.json()) as { error?: string }).error,
      response.headers.get('retry-after'),
    ]
    assert.deepEqual(await errorOf(await get('/large', one)), [503, 'busy', '2'])
    assert.deepEqual(await errorOf(await get('/read', one, 'POST')), [503, 'busy', '2'])
    // What it changed is changed.
    const unknown = [503, 'outcome_unknown', '2']
    assert.deepEqual(await errorOf(await get('/large', one, 'POST')), unknown)
    assert.equal((await get('/small', one)).status, 200)
    assert.equal((await (await get('/large', other)).text()).length, BYTES + 11)

    sockets.push(ask(other), ask(other))
    await waitFor('four are under way', async () => used() === 4)
    assert.deepEqual(await errorOf(await get('/large', third)), [503, 'busy', '2'])
    for (const socket of sockets) socket.destroy()
    await waitFor('nothing is unsent', async () => budget.used().unsent === 0)
    assert.equal((await (await get('/large', third)).text()).length, BYTES + 11)
  })

  test('that are beyond the budget are rejected before their text is made', async (t) => {
    let made = 0
    const parts = Array.from({ length: 9 }, () => ({
      text: 'x'.repeat(BYTES),
      toJSON: () => (made += 1),
    }))
    const handler = async () => ({ status: 200, body: { parts } })
    const huge = await startRoutes([makeRoute('get', '/huge', { handler })], { budget })
    t.after(huge.close)
    assert.equal((await fetch(`${huge.url}/huge`)).status, 503)
    assert.deepEqual([made, budget.used().unsent], [0, 0])
  })

  test('that nobody reads are given up', async (t) => {
    const impatient = await start({ readerPaces: [{ bytesPerSecond: 1, windowMs: 1000 }] })
    t.after(impatient.close)
    const socket = ask('192.0.2.4', impatient)
    await waitFor('it is under way', async () => used() === 1)
    await waitFor('it is closed', async () => budget.used().unsent === 0)
    socket.destroy()
  })
})
