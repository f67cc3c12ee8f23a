import { randomUUID } from 'node:crypto'

import { Agent, request } from 'undici'

import { makeWebhookSecret, signWebhook } from '../src/adapters/webhook.ts'
import { answer, hang, startWebhookReceiver } from '../test/support/receiver.ts'
import type { WebhookReceiver } from '../test/support/receiver.ts'
import { startService } from '../test/support/service.ts'
import type { Service } from '../test/support/service.ts'
import { say, showFigure, showSpread, spread } from './support/figures.ts'
import { inLanes, latencyOf, rateOf } from './support/lanes.ts'
import { insertToldTask } from './support/told-task.ts'
import { withServers } from './support/with-servers.ts'

const ROUNDS = 5
const EVENTS = 300
const SINGLES = 50
const IN_FLIGHT = 20
const RECEIVERS = 100
/** Tasks of a receiver that answers nothing: its host may hold 8 of the 100 slots, the others wait their turn. */
const DEAD_TASKS = 60

/**
 * Events a second from the row of a task to the receiver, against undici posting the same bodies, signed, on kept
 * connections; and what one receiver that answers nothing costs the 99 others.
 */
export const run = async (): Promise<void> =>
  await withServers(async (keep) => {
    const service = keep(await startService({ roles: ['core'], env: { WEBHOOK_TIME_FACTOR: '1' } }))
    const sender = keep(startSender(service))
    await measureRate(sender)
    await measureLatency(service, sender)
    await measureDead(sender)
  })

/** Sends one event of a task to an address; ends when it has arrived there. */
type Send = (receiver: Listening) => Promise<void>

interface Sender {
  deliver: Send
  post: Send
  /** Makes a task whose event is to be sent, and does not wait. */
  begin: (url: string) => Promise<void>
  stop: () => Promise<void>
}

const startSender = (service: Service): Sender => {
  const agent = new Agent({ connections: IN_FLIGHT })
  const secrets = [makeWebhookSecret()]
  const begin = (url: string): Promise<void> => insertToldTask(service.database.sql, url)
  return {
    begin,
    deliver: async (receiver) => {
      const { url, arrived } = receiver.expect()
      await begin(url)
      await arrived
    },
    post: async (receiver) => {
      const { url, arrived } = receiver.expect()
      const record = { task_id: randomUUID(), status: 'COMPLETED', generated: [] }
      const body = Buffer.from(JSON.stringify(record))
      const timestamp = Math.floor(Date.now() / 1000)
      const headers = signWebhook({ id: randomUUID(), timestamp, body, secrets })
      const { body: rest } = await request(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
        dispatcher: agent,
      })
      await rest.dump()
      await arrived
    },
    stop: () => agent.close(),
  }
}

interface Listening {
  /** An address of its own, and when a request has come there. */
  expect: () => { url: string; arrived: Promise<void> }
}

const listen = (receiver: WebhookReceiver): Listening => ({
  expect: () => {
    const path = `/${randomUUID()}`
    const arrived = new Promise<void>((resolve) =>
      receiver.script(path, (turn) => {
        answer(204)(turn)
        resolve()
      }),
    )
    return { url: receiver.url(path), arrived }
  },
})

const measureRate = async ({ deliver, post }: Sender): Promise<void> => {
  const server = await startWebhookReceiver()
  const receiver = listen(server)
  const rates: Record<'deliver' | 'post', number[]> = { deliver: [], post: [] }
  await rateOf(60, IN_FLIGHT, () => deliver(receiver))
  await rateOf(60, IN_FLIGHT, () => post(receiver))
  for (let round = 1; round <= ROUNDS; round += 1) {
    rates.post.push(await rateOf(EVENTS, IN_FLIGHT, () => post(receiver)))
    rates.deliver.push(await rateOf(EVENTS, IN_FLIGHT, () => deliver(receiver)))
    say(`round ${round} of ${ROUNDS}`)
  }
  await server.stop()
  showSpread('undici, signed, 20 in flight', rates.post, 'events/s')
  showSpread('row to receiver, 20 in flight', rates.deliver, 'events/s')
  const ratio = spread(rates.deliver).median / spread(rates.post).median
  showFigure('delivery.rate', ratio, { unit: 'x', aim: 0.2, atMost: false })
}

/** One at a time, against a row that is inserted durably and then posted. */
const measureLatency = async (
  { database: { sql } }: Service,
  { deliver, post }: Sender,
): Promise<void> => {
  const server = await startWebhookReceiver()
  const receiver = listen(server)
  await sql`create table bare_event (id uuid primary key)`
  const recordAndPost = async (): Promise<void> => {
    await sql`insert into bare_event values (${randomUUID()})`
    await post(receiver)
  }
  const times: Record<'deliver' | 'post', number[]> = { deliver: [], post: [] }
  for (let round = 0; round < ROUNDS; round += 1) {
    times.post.push(await latencyOf(SINGLES, recordAndPost))
    times.deliver.push(await latencyOf(SINGLES, () => deliver(receiver)))
  }
  await server.stop()
  showSpread('insert and signed post, one at a time, p50', times.post, 'ms')
  showSpread('row to receiver, one at a time, p50', times.deliver, 'ms')
  const { median } = spread(times.deliver)
  showFigure('delivery.latency', median, { unit: 'ms', aim: 30, atMost: true })
  const ratio = median / spread(times.post).median
  showFigure('delivery.latency-ratio', ratio, { unit: 'x', aim: 3, atMost: true })
}

const measureDead = async (sender: Sender): Promise<void> => {
  const servers = await Promise.all(Array.from({ length: RECEIVERS }, () => startWebhookReceiver()))
  const [dead, ...living] = servers
  const receivers = living.map(listen)
  const p99s: Record<'alone' | 'beside', number[]> = { alone: [], beside: [] }
  for (let round = 1; round <= 3; round += 1) {
    p99s.alone.push(await p99Of(sender, receivers))
    // Each of them hangs for 15 s, so all of them are still at it when the others are measured.
    for (let i = 0; i < DEAD_TASKS; i += 1) {
      const path = `/${round}/${i}`
      dead?.script(path, hang)
      await sender.begin(dead?.url(path) ?? '')
    }
    p99s.beside.push(await p99Of(sender, receivers))
    await dead?.stop()
    await dead?.start()
    say(`round ${round} of 3`)
  }
  for (const server of servers) await server.stop()
  showSpread('p99 of 99 receivers', p99s.alone, 'ms')
  showSpread('p99 beside a dead one', p99s.beside, 'ms')
  const ratio = spread(p99s.beside).median / spread(p99s.alone).median
  showFigure('delivery.beside-dead', ratio, { unit: 'x', aim: 1.1, atMost: true })
}

/** 99th percentile of the time from row to receiver in milliseconds, five events to each. */
const p99Of = async ({ deliver }: Sender, receivers: Listening[]): Promise<number> => {
  const times: number[] = []
  await inLanes(receivers.length * 5, IN_FLIGHT, async (index) => {
    const receiver = receivers[index % receivers.length]
    if (!receiver) return
    const start = performance.now()
    await deliver(receiver)
    times.push(performance.now() - start)
  })
  times.sort((a, b) => a - b)
  return times[Math.floor(times.length * 0.99)] ?? 0
}
