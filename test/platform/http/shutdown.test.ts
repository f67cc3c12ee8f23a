import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Agent } from 'node:http'
import { describe, test } from 'node:test'

import { IMAGE_URL, UPSCALE } from '../../support/client.ts'
import { holdRequest, type HeldRequest } from '../../support/held-request.ts'
import { send as sendRequest } from '../../support/request.ts'
import { useService } from '../../support/service.ts'
import { waitFor } from '../../support/wait.ts'

const BODY = { image: IMAGE_URL }
const CLIENTS = 16

let token: string
const service = useService({ roles: ['api'] }, async () => {
  token = await service.token('alice')
})

/** A creation whose body stays half sent until the test says otherwise. */
const hold = async (baseUrl: string, key: string = randomUUID()): Promise<HeldRequest> => {
  const held = holdRequest({
    url: baseUrl + UPSCALE,
    headers: { authorization: `Bearer ${token}`, 'idempotency-key': key },
    body: BODY,
  })
  const { sql } = service
  await waitFor(
    'the request is held',
    async () => (await sql`select from idempotency where key = ${key}`).length === 1,
  )
  return held
}

const isRejecting = async (baseUrl: string): Promise<boolean> =>
  await fetch(`${baseUrl}/health`).then(
    () => false,
    () => true,
  )

const isDraining = async (baseUrl: string): Promise<boolean> => {
  const response = await fetch(`${baseUrl}/ready`)
  const { checks } = (await response.json()) as { checks: { draining: boolean } }
  return response.status === 503 && checks.draining
}

interface Load {
  /** Status of the response to each request, or what went wrong. */
  outcomes: string[]
  stop(): Promise<void>
}

/** Clients that each send one request after the other over a connection that they keep. */
const startLoad = (baseUrl: string): Load => {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })
  const outcomes: string[] = []
  const stopping = new AbortController()
  const runClient = async (client: number): Promise<void> => {
    for (let sent = client; !stopping.signal.aborted; sent += 1) {
      const outcome = await send(agent, baseUrl, sent % 2 === 0).catch(
        (error: NodeJS.ErrnoException) => error.code ?? error.message,
      )
      outcomes.push(outcome)
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
  const headers = {
    authorization: `Bearer ${token}`,
    ...(creates && { 'content-type': 'application/json' }),
  }
  const body = creates ? Buffer.from(JSON.stringify(BODY)) : undefined
  const sent = { agent, method: creates ? 'POST' : 'GET', headers }
  const { status, bytes } = await sendRequest(baseUrl + UPSCALE, sent, body)
  return status === 200 ? '200' : `${status} ${bytes.toString()}`
}

describe('SIGTERM', { concurrency: true }, () => {
  test('cuts off nobody under load during the delay, which a second signal ends at once', async () => {
    const { baseUrl, entry } = await service.startSecondApi({ DRAIN_DELAY_SECONDS: '300' })
    const load = startLoad(baseUrl)
    const untilMore = (count: number): Promise<boolean> => {
      const wanted = load.outcomes.length + count
      return waitFor('there is load', () => Promise.resolve(load.outcomes.length >= wanted))
    }
    await untilMore(100)
    const held = await hold(baseUrl)
    entry.signal('SIGTERM')
    // A balancer takes the process out when it says that it is unready; until then clients go on.
    await waitFor('it is unready', () => isDraining(baseUrl))
    await untilMore(2 * CLIENTS)
    await load.stop()
    assert.deepEqual([...new Set(load.outcomes)], ['200'])
    entry.signal('SIGINT')
    assert.equal(await entry.end(), '1')
    held.abort()
  })

  test('the process ends when all that was begun has its response', async () => {
    const { baseUrl, entry } = await service.startSecondApi()
    const held = await hold(baseUrl)
    entry.signal('SIGTERM')
    await waitFor('it takes nothing new', () => isRejecting(baseUrl))
    const { status, body } = await held.finish()
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal(await entry.end(), '0')
    const { sql } = service
    const created = await sql`select from task where id = ${body.data?.task_id ?? null}`
    assert.equal(created.length, 1)
    const log = entry.log.map((line) => JSON.parse(line) as { level: number; msg: string })
    assert.ok(log.some(({ msg }) => msg === 'stopping'))
    assert.ok(log.every(({ level }) => level < 50))
  })

  test('cuts a request that does not end, and its key is free', async () => {
    const { baseUrl, entry } = await service.startSecondApi()
    const key = randomUUID()
    const held = await hold(baseUrl, key)
    entry.signal('SIGTERM')
    assert.equal(await entry.end(), '0')
    await assert.rejects(held.finish())
    const { sql } = service
    assert.equal((await sql`select from idempotency where key = ${key}`).length, 0)
  })

  test('ends a process that nobody uses, with connections that are kept open, after a delay of more than ten seconds, too', async () => {
    const { baseUrl, entry } = await service.startSecondApi({ DRAIN_DELAY_SECONDS: '11' })
    const agent = new Agent({ keepAlive: true })
    assert.equal(await send(agent, baseUrl, false), '200')
    entry.signal('SIGTERM')
    assert.equal(await entry.end(), '0')
    agent.destroy()
  })
})
