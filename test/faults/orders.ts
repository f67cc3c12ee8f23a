import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'

import { Client as TemporalClient, type Connection } from '@temporalio/client'

import { makeCallers, makeOrder, type Order, type RECEIVERS } from '../nemesis/callers.ts'
import { check } from '../nemesis/check.ts'
import { readRows, type TaskRow } from '../nemesis/rows.ts'
import { waitUntilSettled } from '../nemesis/scenario.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { startWebhookReceiver } from '../support/receiver.ts'
import type { Service } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'
import { untilCleaned } from './scratch.ts'

export interface OrdersOptions {
  service: Service
  temporal: { connection: Connection }
  tasks: number
  versions: number
  /** Number in a hundred tasks. */
  videos?: number
  receivers?: Partial<typeof RECEIVERS>
}

/** Orders of the callers of the harness at one api, each end of each family among them, and their receiver. */
export type Orders = Awaited<ReturnType<typeof startOrders>>

/** Needs a service with an api. */
export const startOrders = async ({ service, temporal, ...counts }: OrdersOptions) => {
  const receiver = await startWebhookReceiver()
  const api = { baseUrl: service.baseUrl }
  const called = {
    service,
    receiver,
    links: { receiver: { port: receiver.port } },
    members: new Map([
      ['api-1', api],
      ['api-2', api],
    ]),
  }
  const callers = await makeCallers(called, { seed: 1, ...counts })
  for (const kind of ['image', 'video'] as const)
    for (const end of ['failed', 'cancelled'] as const)
      callers.orders.push(makeOrder({ key: `${kind}-${end}`, kind, end }))
  const left = [...callers.orders]
  return {
    callers,
    receiver,
    /** One of a kind that nobody has asked for, and that ends well. */
    next(kind: Order['kind']): Order {
      const index = left.findIndex((order) => order.kind === kind && order.end === 'done')
      const [order] = left.splice(index, 1)
      assert.ok(index >= 0 && order, `an order of a ${kind} is left`)
      return order
    },
    /** Asks for so many that nobody has asked for, at once. */
    async place(count: number) {
      await Promise.all(left.splice(0, count).map(callers.fulfil))
    },
    /** Creates one more image task of alice, which the test brings to its end. Returns its id. */
    async make(end: Order['end']) {
      const order = makeOrder({ key: randomUUID(), kind: 'image', end: 'done' })
      callers.orders.push(order)
      // An api that waits shortly for its database rejects some of them for now.
      await waitFor('it is created', () => callers.create(order))
      order.end = end
      return [...order.ids].join()
    },
    /**
     * Repeats what got no response, waits until all has ended, and asserts that the checker finds nothing. Workflows that a
     * lost store of Temporal knew are known.
     */
    async assertWhole(lost: ReadonlyMap<string, number> = new Map()): Promise<TaskRow[]> {
      // The claims of processes that died are ended instead of waited for.
      await service.database.sql`
        update idempotency set lease_until = clock_timestamp() where status is null
      `
      await callers.reconcile()
      const late = await waitUntilSettled(service, 3 * PATIENCE_MS)
      await untilClosed(service, temporal.connection)
      await untilCleaned(service)
      const rows = await readRows({ service, temporal })
      rows.workflows = new Map([...lost, ...rows.workflows])
      const { received } = receiver
      const none = { bulks: [], said: {}, canaries: [], pauses: [], mayFail: false }
      const ledgers = { ...callers, rows, received, ...none }
      assert.deepEqual([...late, ...check(ledgers)], [])
      return rows.tasks
    },
    stop: () => receiver.stop(),
  }
}

/** Waits until no workflow of the service runs. */
const untilClosed = async ({ taskQueue }: Service, connection: Connection): Promise<void> => {
  const { workflow } = new TemporalClient({ connection })
  const query = `TaskQueue = '${taskQueue}' and ExecutionStatus = 'Running'`
  await waitFor('every workflow has ended', async () => {
    const { count } = await workflow.count(query)
    return count === 0
  })
}
