import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent } from 'node:http'
import { connect, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'

import { makeHealthRoutes } from '../../../src/platform/http/health-routes.ts'
import { send } from '../../support/request.ts'
import { makeRoute, startRoutes, type RouteServer } from '../../support/routes.ts'
import { waitFor } from '../../support/wait.ts'

describe('connections', () => {
  const asked: (() => void)[] = []
  const waiting = makeRoute('post', '/waiting', {
    handler: async () => {
      await new Promise<void>((resolve) => asked.push(resolve))
      return { status: 204 }
    },
  })
  const health = makeHealthRoutes({ lifecycle: { state: 'serving' }, checks: {} } as never)
  const agent = new Agent({ keepAlive: true })
  let server: RouteServer
  const held: Socket[] = []

  before(async () => {
    server = await startRoutes([...health, waiting], {
      trustProxy: ['127.0.0.9', '127.0.1.0/24'],
      server: { connections: { total: 12, perAddress: 3 } },
    })
  })
  after(async () => {
    for (const socket of held) socket.destroy()
    agent.destroy()
    await server.close()
  })

  const hold = async (localAddress: string): Promise<void> => {
    const { hostname, port } = new URL(server.url)
    const socket = connect({ host: hostname, port: Number(port), localAddress })
    socket.on('error', () => {})
    held.push(socket)
    await once(socket, 'connect')
  }
  const get = (localAddress: string) => send(`${server.url}/health`, { localAddress, agent })

  test('of one address have a limit, whatever another address has', async () => {
    for (let i = 0; i < 3; i += 1) await hold('127.0.0.2')
    await assert.rejects(get('127.0.0.2'), { code: 'ECONNRESET' })
    const response = await get('127.0.0.3')
    assert.equal(response.status, 200)
    assert.equal(response.headers['keep-alive'], 'timeout=75')
    held.pop()?.destroy()
    await waitFor('there is room', async () => await get('127.0.0.2').catch(() => undefined))
  })

  test('connections take eight requests that have no response yet', async () => {
    const { hostname, port } = new URL(server.url)
    const ask = (requests: number) => {
      asked.length = 0
      const socket = connect({ host: hostname, port: Number(port), localAddress: '127.0.0.4' })
      socket.on('error', () => {})
      socket.write('POST /waiting HTTP/1.1\r\nHost: kiln\r\n\r\n'.repeat(requests))
      held.push(socket)
      return socket
    }
    const patient = ask(8)
    let responses = 0
    patient.on('data', (piece: Buffer) => {
      responses += piece.toString().split('HTTP/1.1 204').length - 1
    })
    await waitFor('all are asked', async () => asked.length === 8)
    for (const response of asked) response()
    await waitFor('all have a response', async () => responses === 8)
    patient.write('GET /health HTTP/1.1\r\nHost: kiln\r\nConnection: close\r\n\r\n')
    await once(patient, 'close')

    const hasty = ask(1000).resume()
    await waitFor('it is closed', async () => hasty.closed || asked.length > 8)
    assert.equal(asked.length, 8)
  })

  test('of a proxy have none but the total, near which idle ones end sooner', async () => {
    for (const address of ['127.0.0.9', '127.0.1.7', '127.0.0.9', '127.0.1.7', '127.0.0.9'])
      await hold(address)
    assert.equal((await get('127.0.0.9')).headers['keep-alive'], 'timeout=5')
  })
})
