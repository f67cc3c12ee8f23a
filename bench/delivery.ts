import { randomUUID } from 'node:crypto'

import { Agent } from 'undici'

import { makeWebhookSecret } from '../src/events/adapters/webhook.ts'
import type { Sql } from '../src/platform/db/client.ts'
import { hang, startWebhookReceiver } from '../test/support/receiver.ts'
import type { WebhookReceiver } from '../test/support/receiver.ts'
import { startService } from '../test/support/service.ts'
import { at, median, showResult, showRatio, showSpread } from './support/results.ts'
import { withServers } from '../test/support/keep.ts'
import type { Keep } from '../test/support/keep.ts'
import { inLanes, inTurns, latencyOf, rateOf, timesOf } from './support/lanes.ts'
import { DEFAULTS } from './support/settings.ts'
import { insertTaskWithWebhook, listenAt, makeDeliver, postSigned } from './support/notified.ts'

const ROUNDS = Number(process.env['ROUNDS'] ?? 5)
const EVENTS = Number(process.env['EVENTS'] ?? 300)
const SINGLES = 50
const IN_FLIGHT = 20
const RECEIVERS = 100
/** Tasks of a receiver that never responds: its host may hold 8 of the 100 slots, the others wait their turn. */
const DEAD_TASKS = 60

/**
 * Events a second from the row of a task to the receiver, against undici posting the same bodies, signed, on kept
 * connections; and what one receiver that never responds costs the 99 others.
 */
export const run = async (): Promise<void> =>
  await withServers(async (keep) => {
    const service = keep(await startService({ roles: ['core'], env: DEFAULTS }))
    const { sql } = service.database
    const receiver = keep(await startWebhookReceiver())
    const agent = new Agent({ connections: IN_FLIGHT })
    keep({ stop: () => agent.close() })
    const deliver = makeDeliver(sql)
    const ways = { deliver: () => deliver(receiver), post: makePost(agent, receiver) }
    await measureRate(ways)
    await measureLatency(sql, ways)
    await measureDead(keep, { sql, deliver })
  })

/** Sends one event of a task to an address of its own; ends when it has arrived there. */
type Send = () => Promise<void>

const makePost = (dispatcher: Agent, receiver: WebhookReceiver): Send => {
  const secret = makeWebhookSecret()
  return async () => {
    const { url, notified } = listenAt(receiver)
    await postSigned(dispatcher, { url, taskId: randomUUID(), status: 'COMPLETED', secret })
    await notified
  }
}

const measureRate = async ({ deliver, post }: Record<'deliver' | 'post', Send>): Promise<void> => {
  for (const send of [deliver, post]) await rateOf(60, IN_FLIGHT, send)
  const rates = await inTurns(ROUNDS, {
    post: () => rateOf(EVENTS, IN_FLIGHT, post),
    deliver: () => rateOf(EVENTS, IN_FLIGHT, deliver),
  })
  showSpread('undici, signed, 20 in flight', rates.post, 'events/s')
  showSpread('row to receiver, 20 in flight', rates.deliver, 'events/s')
  showRatio('delivery.rate', [rates.deliver, rates.post], { atLeast: 0.2 })
}

/** One at a time, against a row that is inserted durably and then posted. */
const measureLatency = async (
  sql: Sql,
  { deliver, post }: Record<'deliver' | 'post', Send>,
): Promise<void> => {
  await sql`create table bare_event (id uuid primary key)`
  const recordAndPost = async (): Promise<void> => {
    await sql`insert into bare_event values (${randomUUID()})`
    await post()
  }
  const times = await inTurns(ROUNDS, {
    post: () => latencyOf(SINGLES, recordAndPost),
    deliver: () => latencyOf(SINGLES, deliver),
  })
  showSpread('insert and signed post, one at a time, p50', times.post, 'ms')
  showSpread('row to receiver, one at a time, p50', times.deliver, 'ms')
  const latency = median(times.deliver)
  showResult('delivery.latency', latency, { unit: 'ms', atMost: 30 })
  showRatio('delivery.latency-ratio', [times.deliver, times.post], { atMost: 3 })
}

const measureDead = async (
  keep: Keep,
  { sql, deliver }: { sql: Sql; deliver: ReturnType<typeof makeDeliver> },
): Promise<void> => {
  const startReceiver = async () => keep(await startWebhookReceiver())
  const dead = await startReceiver()
  const living = await Promise.all(Array.from({ length: RECEIVERS - 1 }, startReceiver))
  const fiveOfEach = Array.from({ length: 5 }, () => living).flat()
  /** 99th percentile of the time from row to receiver in milliseconds. */
  const measureP99 = async (): Promise<number> => {
    const times = await timesOf(fiveOfEach.length, IN_FLIGHT, (index) =>
      deliver(fiveOfEach[index] as WebhookReceiver),
    )
    return at(times, 0.99)
  }
  const p99s = await inTurns(3, {
    alone: measureP99,
    beside: async (round) => {
      // Each of them hangs for 15 s, so all of them are still at it when the others are measured.
      await inLanes(DEAD_TASKS, 1, async (index) => {
        dead.script(`/${round}/${index}`, hang)
        await insertTaskWithWebhook(sql, dead.url(`/${round}/${index}`))
      })
      const p99 = await measureP99()
      await dead.stop()
      await dead.start()
      return p99
    },
  })
  showSpread('p99 of 99 receivers', p99s.alone, 'ms')
  showSpread('p99 beside a dead one', p99s.beside, 'ms')
  showRatio('delivery.beside-dead', [p99s.beside, p99s.alone], { atMost: 1.1 })
}
