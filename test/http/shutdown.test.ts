import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Agent, request as httpRequest } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { IMAGE_API } from '../support/client.ts'
import type { Entry } from '../support/entry.ts'
import { holdRequest } from '../support/held-request.ts'
import type { HeldRequest } from '../support/held-request.ts'
import { useService } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'

const UPSCALE = `${IMAGE_API}/image-upscaler`
const BODY = { image: 'https://images.example.com/a.png' }
/** The whole of a shutdown with the usual delay (it exits 1 by itself when it takes longer). */
const LIMIT_MS = 10_000
const CLIENTS = 16
/** Time in which the balancer is to look away; clients are served in it. */
const DRAIN_SECONDS = 1

let token: string
const service = useService({ roles: ['api'] }, async () => {
  token = await service.token('alice')
})

const endWithin = async (entry: Entry, limitMs = LIMIT_MS): Promise<string> => {
  const late = new AbortController()
  try {
    return await Promise.race([
      entry.ended,
      sleep(limitMs, 'still running', { signal: late.signal }),
    ])
  } finally {
    late.abort()
  }
}

/** A creation whose body stays half sent until the test says otherwise. */
const hold = async (baseUrl: string, key: string = randomUUID()): Promise<HeldRequest> => {
  const held = holdRequest({
    url: baseUrl + UPSCALE,
    headers: { authorization: `Bearer ${token}`, 'idempotency-key': key },
    body: BODY,
  })
  const { sql } = service.database
  await waitFor(
    'the request is held',
    async () => (await sql`select from idempotency where key = ${key}`).length === 1,
  )
  return held
}

const isRefusing = async (baseUrl: string): Promise<boolean> =>
  await fetch(`${baseUrl}/health`).then(
    () => false,
    () => true,
  )

const isUnavailable = (outcome: string): boolean => /^503 .*"error":"unavailable"/.test(outcome)

/** Or refuses already, where this test is slower than the delay. */
const isUnready = async (baseUrl: string): Promise<boolean> =>
  await fetch(`${baseUrl}/ready`).then(
    ({ status }) => status === 503,
    () => true,
  )

interface Load {
  /** Status of the answer to each request, or what went wrong, and when. */
  outcomes: { outcome: string; at: number }[]
  /** Lets every client end the request it has begun. */
  stop(): Promise<void>
}

/** Clients that each send one request after the other over a connection that they keep. */
const startLoad = (baseUrl: string): Load => {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })
  const outcomes: Load['outcomes'] = []
  const stopping = new AbortController()
  const runClient = async (client: number): Promise<void> => {
    for (let sent = client; !stopping.signal.aborted; sent += 1) {
      const outcome = await send(agent, baseUrl, sent % 2 === 0).catch(
        (error: NodeJS.ErrnoException) => error.code ?? error.message,
      )
      outcomes.push({ outcome, at: Date.now() })
    }
  }
  const clients = Array.from({ length: CLIENTS }, (_, client) => runClient(client))
  return {
    outcomes,
    async stop() {
      stopping.abort()
      await Promise.all(clients)
      agent.destroy()
    },
  }
}

const send = async (agent: Agent, baseUrl: string, creates: boolean): Promise<string> => {
  const outgoing = httpRequest(baseUrl + UPSCALE, {
    agent,
    method: creates ? 'POST' : 'GET',
    headers: {
      authorization: `Bearer ${token}`,
      ...(creates && { 'content-type': 'application/json' }),
    },
  })
  outgoing.end(creates ? JSON.stringify(BODY) : undefined)
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  const body = Buffer.concat((await response.toArray()) as Buffer[]).toString()
  return response.statusCode === 200 ? '200' : `${response.statusCode} ${body}`
}

describe('SIGTERM', () => {
  test('under load ends the process when all that was begun is answered, and nobody is cut off', async () => {
    const { baseUrl, entry } = await service.startSecondApi({
      DRAIN_DELAY_SECONDS: String(DRAIN_SECONDS),
    })
    const load = startLoad(baseUrl)
    const untilMore = (count: number): Promise<boolean> => {
      const wanted = load.outcomes.length + count
      return waitFor('there is load', () => Promise.resolve(load.outcomes.length >= wanted))
    }
    await untilMore(100)
    const held = await hold(baseUrl)
    const signalled = Date.now()
    entry.signal('SIGTERM')
    // A balancer takes the process out when it says that it is unready; until then clients go on.
    await waitFor('it is unready', () => isUnready(baseUrl))
    await untilMore(2 * CLIENTS)
    await load.stop()
    // On a machine that is busy with something else some may come only when the process refuses what is new.
    const early = load.outcomes.filter(({ at }) => at < signalled + DRAIN_SECONDS * 1000)
    // Nor is it the stop that keeps PostgreSQL from answering in time there.
    const cut = early.filter(({ outcome }) => outcome !== '200' && !isUnavailable(outcome))
    assert.deepEqual(cut, [])
    assert.ok(
      early.some(({ outcome }) => outcome === '200'),
      'clients were served',
    )
    await waitFor('it takes nothing new', () => isRefusing(baseUrl))
    const { status, body } = await held.finish()
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal(await endWithin(entry), '0')
    const { sql } = service.database
    const [row] = await sql<{ count: number }[]>`select count(*)::integer as count from task`
    const created = await sql`select from task where id = ${body.data?.task_id ?? null}`
    assert.equal(created.length, 1)
    assert.ok((row?.count ?? 0) > 1)
  })

  test('cuts a request that does not end, and its key is free', async () => {
    const { baseUrl, entry } = await service.startSecondApi()
    const key = randomUUID()
    const held = await hold(baseUrl, key)
    entry.signal('SIGTERM')
    assert.equal(await endWithin(entry), '0')
    await assert.rejects(held.finish())
    const { sql } = service.database
    assert.equal((await sql`select from idempotency where key = ${key}`).length, 0)
  })

  test('ends a process that nobody uses, with connections that are kept open', async () => {
    const { baseUrl, entry } = await service.startSecondApi()
    const agent = new Agent({ keepAlive: true })
    assert.equal(await send(agent, baseUrl, false), '200')
    entry.signal('SIGTERM')
    assert.equal(await endWithin(entry), '0')
    agent.destroy()
  })

  test('ends the process in order after a delay that is longer than ten seconds, too', async () => {
    const { entry } = await service.startSecondApi({ DRAIN_DELAY_SECONDS: '11' })
    entry.signal('SIGTERM')
    assert.equal(await endWithin(entry, 2 * LIMIT_MS), '0')
  })

  test('a second time ends the process at once', async () => {
    const { baseUrl, entry } = await service.startSecondApi({ DRAIN_DELAY_SECONDS: '300' })
    const held = await hold(baseUrl)
    entry.signal('SIGTERM')
    await waitFor('it is unready', async () => (await fetch(`${baseUrl}/ready`)).status === 503)
    entry.signal('SIGINT')
    assert.equal(await endWithin(entry), '1')
    held.abort()
  })

  test('is logged, and so is nothing of an error', () => {
    const log = service.entry('api').log.map((line) => JSON.parse(line) as { level: number })
    assert.ok(log.every(({ level }) => level < 50))
  })
})
