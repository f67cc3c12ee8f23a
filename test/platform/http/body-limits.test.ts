import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { describe, test } from 'node:test'

import { USUAL_DRAIN } from '../../../src/platform/http/body/early-response.ts'
import { makeBudget, SMALL } from '../../../src/platform/json-body/budget.ts'
import { readJsonBody } from '../../../src/platform/json-body/read-json-body.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { waitFor } from '../../support/wait.ts'
import {
  isEmpty,
  JSON_TYPE,
  makeOptions,
  makeRequest,
  makeScratch,
  post,
  read,
  rejectedWith,
  startServer,
} from './body-support.ts'

const CHUNKED = { ...JSON_TYPE, 'transfer-encoding': 'chunked' }

describe('length of a body', () => {
  test('over the limit by its header is rejected before a byte is read', async (t) => {
    const options = makeOptions(await makeScratch(t), { maxBytes: 100 })
    const port = await startServer(t, options)
    const response = await post(port, { ...JSON_TYPE, 'content-length': 101 }, () => {})
    assert.equal(response.status, 413)
    assert.equal(response.error, 'body_too_large')
    assert.equal(response.headers.connection, 'close')
  })

  test('over the limit in chunks is rejected while reading', async (t) => {
    const port = await startServer(t, makeOptions(await makeScratch(t), { maxBytes: 100 }))
    const response = await post(port, CHUNKED, (send) => {
      send(`{"a":"${'x'.repeat(60)}`)
      send('x'.repeat(60))
    })
    assert.equal(response.error, 'body_too_large')
  })

  test('just at the limit is fine', async (t) => {
    const body = `{"a":"${'x'.repeat(92)}"}`
    const port = await startServer(t, makeOptions(await makeScratch(t), { maxBytes: 100 }))
    const response = await post(port, CHUNKED, (send, end) => {
      send(body)
      end()
    })
    assert.equal(response.status, 200)
    assert.deepEqual(response.value, JSON.parse(body))
  })

  test('a body over the limit gets its response even when the client sends everything before it reads', async (t) => {
    // More than the kernel holds for the two ends, or there would be nothing left to reject.
    const bytes = 16_000_000
    const options = makeOptions(await makeScratch(t), { maxBytes: 100 })
    const port = await startServer(t, options, { ...USUAL_DRAIN, ms: PATIENCE_MS })
    const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n'
    const socket = connect(port, '127.0.0.1').pause()
    socket.write(`${head}Content-Length: ${bytes}\r\n\r\n`)
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject)
      socket.write(Buffer.alloc(bytes, 'x'), () => resolve())
    })
    const response = Buffer.concat((await socket.toArray()) as Buffer[]).toString()
    assert.match(response, /^HTTP\/1\.1 413 [^]*"error":"body_too_large"/)
  })
})

describe('slow bodies', () => {
  test('below the pace are 408, and the connection is closed', async (t) => {
    const scratch = await makeScratch(t)
    const pace = { bytesPerSecond: 16_384, windowMs: 100 }
    const port = await startServer(t, makeOptions(scratch, { pace }))
    const response = await post(port, CHUNKED, (send) => send('{"image":"QUJD'))
    assert.equal(response.status, 408)
    assert.equal(response.error, 'request_timeout')
    assert.equal(response.headers.connection, 'close')
    assert.ok(await isEmpty(scratch))
  })

  test('past the deadline are 408 however fast they come', async (t) => {
    const options = makeOptions(await makeScratch(t), { deadlineMs: 150, maxBytes: 1e9 })
    const port = await startServer(t, options)
    let timer: NodeJS.Timeout | undefined
    const response = await post(port, CHUNKED, (send) => {
      send('{"a":1')
      timer = setInterval(() => send(' '.repeat(1000)), 5)
    })
    clearInterval(timer)
    assert.equal(response.status, 408)
    assert.match(response.message ?? '', /0\.15 seconds/)
  })
})

describe('broken off bodies', () => {
  test('leave neither a file nor a reservation', async (t) => {
    const scratch = await makeScratch(t)
    const budget = makeBudget()
    const options = makeOptions(scratch, { budget, maxImageBytes: 1e6 })
    const port = await startServer(t, options)
    const headers = { ...JSON_TYPE, 'content-length': 900_000 }
    const outgoing = httpRequest({ host: '127.0.0.1', port, method: 'POST', headers })
    outgoing.on('error', () => {})
    outgoing.write(`{"prompt":"p","image":"${'QUJD'.repeat(100_000)}`)
    await waitFor('a file', async () => (await readdir(scratch)).length === 1)
    assert.ok(budget.used().received > 0)

    outgoing.destroy()
    await waitFor('the file is gone', () => isEmpty(scratch))
    await waitFor('the budget is free', async () => budget.used().received === 0)
    assert.deepEqual(budget.used(), NOTHING)
  })

  test('by a signal end with its reason', async (t) => {
    const scratch = await makeScratch(t)
    const stop = new AbortController()
    const reason = new Error('the lease is lost')
    const progress: number[] = []
    const options = makeOptions(scratch, {
      signal: stop.signal,
      onProgress: (bytes) => {
        progress.push(bytes)
        stop.abort(reason)
      },
    })
    const request = makeRequest([Buffer.from('{"a":')])
    await assert.rejects(readJsonBody(request, options), (error) => error === reason)
    assert.deepEqual(progress, [5])
    await assert.rejects(read('{}', options), (error) => error === reason)
  })
})

describe('bodies that need none', () => {
  test('may be empty where the route says so', async (t) => {
    const options = makeOptions(await makeScratch(t), { emptyAllowed: true })
    const request = makeRequest([])
    request.headers = {}
    assert.deepEqual((await readJsonBody(request, options)).value, {})
    assert.deepEqual((await read('', options)).value, {})
    await assert.rejects(read('{', options), rejectedWith('json_invalid'))
  })

  test('are rejected elsewhere, whatever their type', async (t) => {
    const request = makeRequest([])
    request.headers = { 'content-length': '0' }
    const options = makeOptions(await makeScratch(t))
    await assert.rejects(readJsonBody(request, options), rejectedWith('body_required'))
  })
})

describe('acceptance', () => {
  test('acceptance is reported after the headers are validated and before the body is read', async (t) => {
    let accepted = 0
    const options = makeOptions(await makeScratch(t), {
      maxBytes: 10,
      onAccept: () => (accepted += 1),
    })
    const rejected: [Record<string, string>, string][] = [
      [{ 'content-length': '11' }, 'body_too_large'],
      [{ 'content-type': 'text/plain' }, 'unsupported_media_type'],
      [{ 'content-encoding': 'gzip' }, 'unsupported_encoding'],
    ]
    for (const [headers, code] of rejected) {
      const request = makeRequest([Buffer.from('{}')], headers)
      await assert.rejects(readJsonBody(request, options), rejectedWith(code))
    }
    assert.equal(accepted, 0)
    await read('{}', options)
    assert.equal(accepted, 1)
  })

  describe('goes by a budget', () => {
    const [mine, other, third] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map(
      (address) => `address:${address}`,
    ) as [string, string, string]
    const LARGE = `{"a":"${'x'.repeat(200_000)}"}`
    const limits = { total: 1_000_000, share: 500_000 }

    for (const kind of ['received', 'memory'] as const)
      test(`of bytes ${kind}, of which an address has its share`, async (t) => {
        const budget = makeBudget({ [kind]: limits })
        const options = makeOptions(await makeScratch(t), { budget })
        const readFrom = (address: string, text = LARGE) => read(text, { ...options, address })
        const hold = (address: string, bytes: number) => {
          const reservation = budget.open(address)
          reservation.take(kind, bytes)
          return reservation
        }
        const first = hold(mine, 450_000)
        await assert.rejects(readFrom(mine), rejectedWith('busy'))
        await readFrom(mine, '{"a":1}')
        await readFrom(other)
        const second = hold(other, 550_000)
        hold(third, 190_000)
        await assert.rejects(readFrom(third), rejectedWith('busy'))
        await readFrom(third, '{"a":1}')
        for (const reservation of [first, first, second]) reservation.release()
        first.take(kind, 900_000)
        await readFrom(mine)
        assert.equal(budget.used()[kind], 190_000 - SMALL)
      })

    test('that counts a body as it arrives, not as it was announced', async (t) => {
      const budget = makeBudget({ received: limits })
      const port = await startServer(t, makeOptions(await makeScratch(t), { budget }))
      const announced = { ...JSON_TYPE, 'content-length': 900_000 }
      const slow = Array.from({ length: 8 }, () =>
        httpRequest({ host: '127.0.0.1', port, method: 'POST', headers: announced }),
      )
      for (const request of slow) request.on('error', () => {}).write('{"a":"'.padEnd(70_000, 'x'))
      await waitFor('all have begun', async () => budget.used().received > 8 * 4000)
      const response = await post(port, CHUNKED, (send, end) => {
        send(LARGE)
        end()
      })
      assert.equal(response.status, 200)
      for (const request of slow) request.destroy()
      await waitFor('the budget is free', async () => budget.used().received === 0)
    })
  })
})

const NOTHING = { received: 0, memory: 0, unsent: 0 }
