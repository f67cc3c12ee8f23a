import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import fc from 'fast-check'

import { ERROR_CODES } from '../../src/platform/domain/errors.ts'
import { SETTINGS, firstLine, makeValidate, makeSender, makeThings, readJson } from './wire.ts'
import { learn, makeRequests } from './requests.ts'
import { listRoutes, readDocument } from '../support/contract.ts'
import { useWebhookReceiver } from '../support/receiver.ts'
import { useService } from '../support/service.ts'

/** The same in every run, so that a failure can be repeated; `npm run test:system -- faults --only fuzz` sends others, for long. */
const SEED = 20_261_121
const REQUESTS = 200

const JSON_TYPE = 'application/json'

const service = useService({ env: SETTINGS })
const receiver = useWebhookReceiver()

interface Rejection {
  error: string
  message: string
  details?: string[]
  request_id: string
}

const MEMBERS = ['error', 'error_type', 'message', 'details', 'request_id']

/** Pattern of what no message may say of the inside: statements, tables, drivers, stacks, secrets. */
const INSIDE =
  /\bselect .* from|insert into|delete from|violates|relation "|syntax error at|postgres|node_modules|\.ts:\d|kiln_pat_\w{36}/i

/** Codes of rejections before there is a request: the connection ends with the response. */
const NO_REQUESTS = ['bad_request', 'headers_too_large', 'request_timeout']

const assertOneShape = (status: number, cached: string | undefined, rejection: Rejection): void => {
  const { error, message, details = [] } = rejection
  assert.equal((ERROR_CODES as Record<string, { status: number }>)[error]?.status, status, error)
  const others = Object.keys(rejection).filter((name) => !MEMBERS.includes(name))
  assert.deepEqual(others, [])
  assert.ok(message.trim() !== '' && details.every((detail) => detail !== ''))
  if (!NO_REQUESTS.includes(error)) assert.equal(cached, 'no-store')
  assert.doesNotMatch(JSON.stringify(rejection), INSIDE)
}

describe('whatever is sent', () => {
  test('whatever is sent gets a documented response, and every error has the one shape', async () => {
    const things = await makeThings(service, receiver.url('/'))
    const requests = makeRequests(await readDocument(), things)
    const counts = new Map<string, number>()
    const validate = await makeValidate(counts)
    const send = makeSender(service.baseUrl)
    const issues: string[] = []
    for (let number = 0; number < REQUESTS; number += 1) {
      const [wire] = fc.sample(requests, { seed: SEED + number, numRuns: 1 })
      assert.ok(wire)
      const response = await send(wire)
      const report = (issue: string): void =>
        void issues.push(`case ${number}: ${issue}: ${firstLine(wire)}`)
      const issue = validate(wire, response)
      if (issue !== undefined) report(issue)
      const body = response && readJson(response)
      if (!response || body === undefined) continue
      if (response.status < 300) learn(things, wire.template, body)
      else if (response.status >= 400 && wire.template !== '/ready')
        try {
          assertOneShape(response.status, response.headers['cache-control'], body as Rejection)
        } catch (error) {
          report(`${String(error)} ${JSON.stringify(body)}`)
        }
    }
    assert.deepEqual(issues, [])
    assert.ok(counts.size > 100, `${counts.size} kinds of responses`)
  })

  test('is rejected alike on every path, by its method, its credential or its type', async () => {
    const ask = async (path: string, init: RequestInit): Promise<Response> => {
      const response = await fetch(service.baseUrl + path, init)
      const { status, headers } = response
      const isRejected = status >= 400 && headers.get('content-type')?.startsWith(JSON_TYPE)
      const cached = headers.get('cache-control') ?? ''
      if (isRejected) assertOneShape(status, cached, (await response.json()) as Rejection)
      // A stream has no end.
      else await response.body?.cancel()
      assert.ok(status < 500 || path === '/ready', `${path}: ${status}`)
      return response
    }
    const routes = listRoutes()
    for (const path of new Set(routes.map((route) => route.path))) {
      const other = await ask(path, { method: 'PATCH' })
      assert.equal(other.status, 405, path)
      assert.ok(other.headers.get('allow'), path)
    }
    const token = `Bearer ${await service.token('a')}`
    for (const { path, method, body } of routes)
      for (const authorization of body ? ['Bearer x', token] : ['Bearer x'])
        await ask(path, {
          method: method.toUpperCase(),
          headers: { authorization, 'content-type': 'text/plain' },
          ...(body && { body: '{}' }),
        })
  })
})
