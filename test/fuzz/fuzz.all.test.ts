import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import fc from 'fast-check'

import { ERROR_CODES } from '../../src/domain/shared/errors.ts'
import { SETTINGS, firstLine, makeJudge, makeSender, makeThings, readJson } from './wire.ts'
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

interface Refusal {
  error: string
  message: string
  details?: string[]
  request_id: string
}

const MEMBERS = ['error', 'error_type', 'message', 'details', 'request_id']

/** What a message says of the inside: statements, tables, drivers, stacks, secrets. */
const INSIDE =
  /\bselect .* from|insert into|delete from|violates|relation "|syntax error at|postgres|node_modules|\.ts:\d|kiln_pat_\w{36}/i

/** Refused before there is a request: the connection ends with the answer. */
const NO_REQUESTS = ['bad_request', 'headers_too_large', 'request_timeout']

const assertOneShape = (status: number, cached: string | undefined, refusal: Refusal): void => {
  const { error, message, details = [] } = refusal
  assert.equal((ERROR_CODES as Record<string, { status: number }>)[error]?.status, status, error)
  const others = Object.keys(refusal).filter((name) => !MEMBERS.includes(name))
  assert.deepEqual(others, [])
  assert.ok(message.trim() !== '' && details.every((detail) => detail !== ''))
  if (!NO_REQUESTS.includes(error)) assert.equal(cached, 'no-store')
  assert.doesNotMatch(JSON.stringify(refusal), INSIDE)
}

describe('whatever is sent', () => {
  test('gets a documented answer, and every error has the one shape', async () => {
    const things = await makeThings(service, receiver.url('/'))
    const requests = makeRequests(await readDocument(), things)
    const counts = new Map<string, number>()
    const judge = await makeJudge(counts)
    const send = makeSender(service.baseUrl)
    const faults: string[] = []
    for (let number = 0; number < REQUESTS; number += 1) {
      const [wire] = fc.sample(requests, { seed: SEED + number, numRuns: 1 })
      assert.ok(wire)
      const answer = await send(wire)
      const fault = judge(wire, answer)
      if (fault !== undefined) faults.push(`case ${number}: ${fault}: ${firstLine(wire)}`)
      const body = answer && readJson(answer)
      if (!answer || body === undefined) continue
      if (answer.status < 300) learn(things, wire.template, body)
      else if (answer.status >= 400 && wire.template !== '/ready')
        try {
          assertOneShape(answer.status, answer.headers['cache-control'], body as Refusal)
        } catch (error) {
          faults.push(
            `case ${number}: ${String(error)}: ${firstLine(wire)} ${JSON.stringify(body)}`,
          )
        }
    }
    assert.deepEqual(faults, [])
    assert.ok(counts.size > 100, `${counts.size} kinds of answers`)
  })

  test('is refused alike on every path, by its method, its credential or its type', async () => {
    const ask = async (path: string, init: RequestInit): Promise<Response> => {
      const answer = await fetch(service.baseUrl + path, init)
      const { status, headers } = answer
      const isRefused = status >= 400 && headers.get('content-type')?.startsWith(JSON_TYPE)
      if (isRefused)
        assertOneShape(status, headers.get('cache-control') ?? '', (await answer.json()) as Refusal)
      // A stream has no end.
      else await answer.body?.cancel()
      assert.ok(status < 500 || path === '/ready', `${path}: ${status}`)
      return answer
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
