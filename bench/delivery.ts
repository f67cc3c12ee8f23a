import { randomUUID } from 'node:crypto'

import { Agent, request } from 'undici'

import { makeWebhookSecret, signWebhook } from '../src/adapters/webhook.ts'
import { answer, hang, startWebhookReceiver } from '../test/support/receiver.ts'
import type { WebhookReceiver } from '../test/support/receiver.ts'
import { startTestServers } from '../test/support/servers.ts'
import { startService } from '../test/support/service.ts'
import type { Service } from '../test/support/service.ts'
import { say, showFigure, showSpread, spread } from './support/figures.ts'

const ROUNDS = 5
const EVENTS = 300
const IN_FLIGHT = 20
const RECEIVERS = 100
/** Tasks of a receiver that answers nothing: its host may hold 8 of the 100 slots, the others wait their turn. */
const DEAD_TASKS = 60

/**
 * Events a second from the row of a task to the receiver, against undici posting the same bodies, signed, on kept
 * connections; and what one receiver that answers nothing costs the 99 others.
 */
export const run = async (): Promise<void> => {
  const servers = await startTestServers(() => {})
  Object.assign(process.env, servers.env)
  const stops: (() => Promise<void>)[] = [() => servers.stop()]
  try {
    const service = await startService({ roles: ['core'], env: { WEBHOOK_TIME_FACTOR: '1' } })
    stops.unshift(() => service.stop())
    const sender = startSender(service)
    stops.unshift(sender.stop)
    await measureRate(sender)
    await measureDead(sender)
  } finally {
    for (const stop of stops) await stop()
  }
}

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
  const begin = (url: string): Promise<void> => beginDelivery(service, url)
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

/** A task as it is once it has ended, with its last event still to be told. */
const beginDelivery = async ({ database: { sql } }: Service, url: string): Promise<void> => {
  const taskId = randomUUID()
  await sql.begin(async (sql) => {
    await sql`
      insert into task (id, family, kind, segment, owner, status, settings, webhook_url, ended_at)
      values (${taskId}, 'image', 'upscale', 'image-upscaler', 'bench', 'COMPLETED', '{}', ${url},
        clock_timestamp())
    `
    await sql`
      insert into event (task_id, sequence, status, deliver, state)
      values (${taskId}, 1, 'COMPLETED', true, 'pending')
    `
  })
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
  await rateOf(deliver, receiver, 60)
  await rateOf(post, receiver, 60)
  for (let round = 1; round <= ROUNDS; round += 1) {
    rates.post.push(await rateOf(post, receiver, EVENTS))
    rates.deliver.push(await rateOf(deliver, receiver, EVENTS))
    say(`round ${round} of ${ROUNDS}`)
  }
  await server.stop()
  showSpread('undici, signed, 20 in flight', rates.post, 'events/s')
  showSpread('row to receiver, 20 in flight', rates.deliver, 'events/s')
  const ratio = spread(rates.deliver).median / spread(rates.post).median
  showFigure('delivery.rate', ratio, { unit: 'x', aim: 0.2, atMost: false })
}

const rateOf = async (send: Send, receiver: Listening, events: number): Promise<number> => {
  const start = performance.now()
  await inLanes(events, () => send(receiver))
  return (events / (performance.now() - start)) * 1000
}

const inLanes = async (count: number, work: (index: number) => Promise<void>): Promise<void> => {
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane))
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
  await inLanes(receivers.length * 5, async (index) => {
    const receiver = receivers[index % receivers.length]
    if (!receiver) return
    const start = performance.now()
    await deliver(receiver)
    times.push(performance.now() - start)
  })
  times.sort((a, b) => a - b)
  return times[Math.floor(times.length * 0.99)] ?? 0
}
