import assert from 'node:assert/strict'
import { after, before, describe, mock, test } from 'node:test'

import { ApiError, errors } from '../../../src/platform/domain/errors.ts'
import type { Authenticate } from '../../../src/identity/http/access/auth.ts'
import { makeRateLimits, QUOTAS } from '../../../src/platform/http/access/rate-limit.ts'
import type { QuotaName, RateLimits } from '../../../src/platform/http/access/rate-limit.ts'
import { assertMembers } from '../../support/client.ts'
import { makeRoute, startRoutes, type RouteServer } from '../../support/routes.ts'
import { useService } from '../../support/service.ts'

const takeAll = async (limits: RateLimits, name: QuotaName, attempts: number) => {
  const results: (Record<string, string> | ApiError)[] = []
  for (let i = 0; i < attempts; i += 1)
    results.push(
      await limits.take(name, 'a').catch((error: unknown) => {
        if (!(error instanceof ApiError)) throw error
        return error
      }),
    )
  return results
}

const isRejected = (result: Record<string, string> | ApiError): result is ApiError =>
  result instanceof ApiError

/** Stops the clock of quotas before the tests of a suite, and lets it go on after them. */
const stopClock = (): void => {
  before(() => mock.timers.enable({ apis: ['Date', 'setTimeout'], now: Date.now() }))
  after(() => mock.timers.reset())
}

describe('quotas', () => {
  stopClock()

  test('let so many through as they say, and reject the next with the time to wait', async () => {
    const results = await takeAll(makeRateLimits(1), 'auth', 21)
    assert.equal(results.findIndex(isRejected), QUOTAS.auth.requests)
    const rejection = results.at(-1)
    assert.ok(rejection instanceof ApiError, 'the last is rejected')
    assertMembers(rejection, { status: 429, code: 'rate_limited' })
    assert.match(
      rejection.message,
      /^The quota auth of 20 in 60 s is used up; try again in \d+ s\.$/,
    )
    const left = /;t=(\d+)$/.exec(rejection.headers['ratelimit'] ?? '')?.[1]
    assert.equal(rejection.headers['retry-after'], left)
  })

  test('quotas show what is left', async () => {
    const [first, second] = await takeAll(makeRateLimits(1), 'read', 2)
    assert.deepEqual(first, {
      'ratelimit-policy': '"read";q=6000;w=60',
      ratelimit: '"read";r=5999;t=60',
    })
    assert.match(String((second as Record<string, string>)['ratelimit']), /r=5998;/)
  })

  test('of a token bucket let a burst through, then what a second refills', async () => {
    const limits = makeRateLimits(1)
    const [first, ...others] = await takeAll(limits, 'create', 75)
    assert.deepEqual(first, {
      'ratelimit-policy': '"create";q=600;w=60',
      ratelimit: '"create";r=59;t=1',
    })
    assert.equal(others.findIndex(isRejected), 59)
    mock.timers.tick(1000)
    assert.equal((await takeAll(limits, 'create', 75)).findIndex(isRejected), 10)
  })

  test('are kept apart by key and by name', async () => {
    const limits = makeRateLimits(0.05)
    await limits.take('auth', 'a')
    await assert.rejects(limits.take('auth', 'a'), { code: 'rate_limited' })
    await limits.take('auth', 'b')
    await limits.take('read', 'a')
  })

  test('are multiplied by the factor', async () => {
    const [first] = await takeAll(makeRateLimits(20), 'write', 1)
    assert.equal((first as Record<string, string>)['ratelimit-policy'], '"write";q=12000;w=60')
  })
})

const auth = { auth: 'optional' } as const

const authenticate: Authenticate = ({ authorization }) => {
  const user = String(authorization ?? '').replace('Bearer ', '')
  if (user === 'bad') return Promise.reject(errors.unauthorized())
  return Promise.resolve(
    user === '' ? undefined : { principal: user, owner: user, scheme: 'jwt' as const },
  )
}

describe('limited routes', () => {
  stopClock()
  let server: RouteServer
  before(async () => {
    server = await startRoutes(
      [
        makeRoute('get', '/read', auth),
        makeRoute('post', '/write', auth),
        makeRoute('get', '/health', { evenWhileClosing: true }),
        makeRoute('post', '/publish', {
          ...auth,
          handler: () => Promise.reject(errors.invalidPersonalAccessToken()),
        }),
        makeRoute('post', '/exchange', {
          ...auth,
          handler: () => Promise.reject(errors.identityTokenRejected('x')),
        }),
      ],
      // auth 1; write 1 a second and 5 more; read 600.
      { authenticate, rateLimits: makeRateLimits(0.1), trustProxy: ['127.0.0.0/8'] },
    )
  })
  after(() => server.close())

  let sent = 0
  /** From an address of its own unless said: each also has a quota whatever it sends. */
  const send = async (
    method: string,
    path: string,
    { address = `198.51.100.${(sent += 1) % 256}`, user }: { address?: string; user?: string } = {},
  ) =>
    await fetch(server.url + path, {
      method,
      headers: {
        'x-forwarded-for': address,
        ...(user === undefined ? {} : { authorization: `Bearer ${user}` }),
      },
    })

  const exhaust = async (attempts: number, ...request: Parameters<typeof send>) => {
    const statuses: number[] = []
    for (let i = 0; i < attempts; i += 1) statuses.push((await send(...request)).status)
    return statuses
  }

  test('limited routes show their quota on every response, also on errors', async () => {
    const read = await send('GET', '/read')
    assert.equal(read.headers.get('ratelimit-policy'), '"read";q=600;w=60')
    assert.match(read.headers.get('ratelimit') ?? '', /^"read";r=\d+;t=\d+$/)
    const rejected = await send('POST', '/publish', { address: '192.0.2.9' })
    assert.equal(rejected.status, 403)
    assert.equal(rejected.headers.get('ratelimit-policy'), '"write";q=60;w=60')
  })

  test('are counted by caller, and by address without one', async () => {
    const statuses = await exhaust(30, 'POST', '/write', { user: 'alice' })
    assert.ok(statuses.includes(429), statuses.join())
    assert.equal((await send('POST', '/write', { user: 'bob' })).status, 200)
    const nobody = await exhaust(30, 'POST', '/write', { address: '192.0.2.2' })
    assert.ok(nobody.includes(429), nobody.join())
    assert.equal((await send('POST', '/write', { address: '192.0.2.3' })).status, 200)
  })

  test('respond with 429 with Retry-After, in the one shape', async () => {
    await exhaust(30, 'POST', '/write', { user: 'carol' })
    const rejected = await send('POST', '/write', { user: 'carol' })
    assert.equal(rejected.status, 429)
    assert.match(rejected.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
    const body = (await rejected.json()) as Record<string, unknown>
    assert.equal(body['error'], 'rate_limited')
    assert.match(String(body['message']), /quota write/)
  })

  test('count an IPv6 network of 64 bits as one address', async () => {
    const one = await exhaust(30, 'POST', '/write', { address: '2001:db8::1' })
    assert.ok(one.includes(429), one.join())
    assert.equal((await send('POST', '/write', { address: '2001:db8::2' })).status, 429)
    assert.equal((await send('POST', '/write', { address: '2001:db8:0:1::1' })).status, 200)
  })

  test('rejected credentials get 429 once there were too many, and good ones are still taken', async () => {
    const address = '192.0.2.4'
    const bad = await exhaust(4, 'GET', '/read', { address, user: 'bad' })
    assert.deepEqual(bad, [401, 401, 429, 429])
    assert.equal((await send('GET', '/read', { address, user: 'alice' })).status, 200)
  })

  test('count wrong tokens in a body with them', async () => {
    const CASES = { '/publish': '192.0.2.5', '/exchange': '192.0.2.7' }
    for (const [path, address] of Object.entries(CASES))
      assert.deepEqual(await exhaust(4, 'POST', path, { address }), [403, 403, 429, 429])
  })

  test('leave probes alone', async () => {
    const statuses = await exhaust(50, 'GET', '/health', { address: '192.0.2.6' })
    assert.deepEqual(new Set(statuses), new Set([200]))
    assert.equal((await send('GET', '/health')).headers.get('ratelimit'), null)
  })
})

describe('the api', () => {
  const service = useService({ roles: ['api'], env: { RATE_LIMITS: '0.005' } })

  test('rejects an address that sends too much at once, whatever it sends', async () => {
    const responses = await Promise.all(
      Array.from(
        { length: 40 },
        async () => await fetch(`${service.baseUrl}/publishers/validate?username=free`),
      ),
    )
    const statuses = new Set(responses.map(({ status }) => status))
    assert.deepEqual(statuses, new Set([200, 429]))
    const rejected = responses.find(({ status }) => status === 429)
    assert.equal(rejected?.headers.get('ratelimit-policy'), '"ip";q=1;w=1')
  })

  test('believes no X-Forwarded-For of a peer that is no proxy of ours', async () => {
    const rejected: number[] = []
    for (let i = 0; i < 12; i += 1) {
      const { status } = await fetch(`${service.baseUrl}/users`, {
        headers: { authorization: 'Bearer nonsense', 'x-forwarded-for': `198.51.100.${i}` },
      })
      rejected.push(status)
    }
    assert.equal(rejected.at(-1), 429)
  })
})
