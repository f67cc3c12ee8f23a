import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'

import express from 'express'

import type { RouteRequest } from '../../../src/platform/http/route.ts'
import { makeServer } from '../../../src/platform/http/serve/server.ts'
import { makeRoute, startRoutes } from '../../support/routes.ts'

// Where one of these does not hold, V8 keeps every request beyond each scavenge, and each costs up to twice the processor.
describe('what a request is made of', () => {
  test('has the prototypes of Express before Express sets them', async () => {
    const app = express().use((_request, response) => void response.end())
    const server = makeServer(app)
    const before: unknown[] = []
    server.prependListener('request', (request, response) =>
      before.push(Object.getPrototypeOf(request), Object.getPrototypeOf(response)),
    )
    await once(server.listen(0, '127.0.0.1'), 'listening')
    await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    server.close().closeAllConnections()
    assert.deepEqual(before.length, 2)
    assert.equal(before[0], app.request)
    assert.equal(before[1], app.response)
  })

  test('has no getter of its own when a handler gets it', async () => {
    const seen: RouteRequest[] = []
    const handler = (request: RouteRequest) => {
      seen.push(request)
      return Promise.resolve({ status: 200, body: {} })
    }
    const service = await startRoutes([makeRoute('get', '/seen', { handler })])
    await fetch(`${service.url}/seen`)
    await service.close()
    const [request] = seen
    assert.ok(request)
    const getters = Object.entries(Object.getOwnPropertyDescriptors(request))
    assert.deepEqual(
      getters.filter(([, { get }]) => get !== undefined).map(([name]) => name),
      [],
    )
  })
})
