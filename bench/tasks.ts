import { randomUUID } from 'node:crypto'

import { Client, Connection } from '@temporalio/client'

import { IMAGE_API } from '../test/support/client.ts'
import { startEntry } from '../test/support/entry.ts'
import { base64 } from '../test/support/pictures.ts'
import { answer, startWebhookReceiver } from '../test/support/receiver.ts'
import type { WebhookReceiver } from '../test/support/receiver.ts'
import { startService } from '../test/support/service.ts'
import type { Service } from '../test/support/service.ts'
import { say, showFigure, showSpread, spread } from './support/figures.ts'
import { latencyOf, rateOf } from './support/lanes.ts'
import { withServers } from './support/with-servers.ts'

const ROUNDS = 5
const TASKS = 200
const IN_FLIGHT = 20
const SINGLES = 20
const CREATE = `${IMAGE_API}/image-relight`

/** Does one task from its start to its known end. */
type RunTask = () => Promise<void>

/**
 * POST → COMPLETED against a bare workflow of the same shape, on the same servers: throughput with 20 in flight, and
 * latency one at a time. The end of our task is the row that a reader sees; the end of a bare workflow is its result.
 */
export const run = async (): Promise<void> =>
  await withServers(async (keep, servers) => {
    const service = keep(
      await startService({ env: { HEARTBEAT_SECONDS: '10', RELAY_INTERVAL_MS: '1000' } }),
    )
    const kiln = keep(await startListening(service))
    const bare = keep(await startBare(servers.env.TEST_TEMPORAL_ADDRESS))
    const image = await base64()
    const receiver = keep(await startWebhookReceiver())
    await measure({
      kiln: () => kiln.runTask(image),
      told: () => kiln.runTold(image, receiver),
      bare: bare.runTask,
    })
  })

const measure = async ({ kiln, told, bare }: Record<'kiln' | 'told' | 'bare', RunTask>) => {
  for (const runTask of [kiln, told, bare]) await rateOf(40, IN_FLIGHT, runTask)
  const rates: Record<'kiln' | 'told' | 'bare', number[]> = { kiln: [], told: [], bare: [] }
  const latencies: Record<'kiln' | 'bare', number[]> = { kiln: [], bare: [] }
  for (let round = 1; round <= ROUNDS; round += 1) {
    rates.bare.push(await rateOf(TASKS, IN_FLIGHT, bare))
    rates.kiln.push(await rateOf(TASKS, IN_FLIGHT, kiln))
    rates.told.push(await rateOf(TASKS, IN_FLIGHT, told))
    latencies.bare.push(await latencyOf(SINGLES, bare))
    latencies.kiln.push(await latencyOf(SINGLES, kiln))
    say(`round ${round} of ${ROUNDS}`)
  }
  showSpread('bare workflow, 20 in flight', rates.bare, 'tasks/s')
  showSpread('POST to COMPLETED, 20 in flight', rates.kiln, 'tasks/s')
  showSpread('POST to COMPLETED at its receiver, 20 in flight', rates.told, 'tasks/s')
  showSpread('bare workflow, one at a time, p50', latencies.bare, 'ms')
  showSpread('POST to COMPLETED, one at a time, p50', latencies.kiln, 'ms')
  const ratio = spread(rates.kiln).median / spread(rates.bare).median
  showFigure('tasks.throughput', ratio, { unit: 'x', aim: 0.8, atMost: false })
  const withReceiver = spread(rates.told).median / spread(rates.kiln).median
  showFigure('tasks.told', withReceiver, { unit: 'x', aim: 0.8, atMost: false })
  const slower = spread(latencies.kiln).median / spread(latencies.bare).median
  showFigure('tasks.latency', slower, { unit: 'x', aim: 1.3, atMost: true })
}

/**
 * Creates tasks, and hears of their ends from the database by a trigger of its own: a poll often enough to be exact would
 * take a quarter of a core from what is measured.
 */
const startListening = async ({ baseUrl, database, token }: Service) => {
  const headers = {
    authorization: `Bearer ${await token('bench')}`,
    'content-type': 'application/json',
  }
  const ends = new Map<string, string>()
  const waiting = new Map<string, (status: string) => void>()
  await database.sql.unsafe(NOTIFY_OF_ENDS)
  const { unlisten } = await database.sql.listen('task_ended', (payload) => {
    const [id = '', status = ''] = payload.split(' ')
    ends.set(id, status)
    waiting.get(id)?.(status)
  })
  const create = async (request: object): Promise<string> => {
    const body = JSON.stringify(request)
    const answered = await fetch(baseUrl + CREATE, { method: 'POST', headers, body })
    if (answered.status !== 200) throw new Error(`creation answered ${answered.status}`)
    return ((await answered.json()) as { data: { task_id: string } }).data.task_id
  }
  return {
    /** Ends when the receiver has heard that the task is completed. */
    async runTold(image: string, receiver: WebhookReceiver): Promise<void> {
      const path = `/${randomUUID()}`
      const told = new Promise<void>((resolve) =>
        receiver.script(path, (turn) => {
          answer(204)(turn)
          if (turn.request.body.includes('"COMPLETED"')) resolve()
        }),
      )
      await create({ image, webhook_url: receiver.url(path) })
      await told
    },
    async runTask(image: string): Promise<void> {
      const id = await create({ image })
      const end = ends.get(id) ?? (await new Promise<string>((resolve) => waiting.set(id, resolve)))
      waiting.delete(id)
      ends.delete(id)
      if (end !== 'COMPLETED') throw new Error(`task ${id} is ${end}`)
    },
    stop: unlisten,
  }
}

const NOTIFY_OF_ENDS = `
  create function notify_of_end() returns trigger language plpgsql as $$
  begin
    perform pg_notify('task_ended', new.id || ' ' || new.status);
    return new;
  end $$;
  create trigger notify_of_end after update on task
    for each row when (old.ended_at is null and new.ended_at is not null)
    execute function notify_of_end();
`

const startBare = async (address: string) => {
  const taskQueue = `bare-${randomUUID()}`
  const workers = await Promise.all(
    ['core', 'media'].map((role) =>
      startEntry({
        path: 'bench/support/bare-worker.ts',
        args: [address, taskQueue, role],
        readyMessage: 'worker ready',
        env: process.env,
      }),
    ),
  )
  const connection = await Connection.connect({ address })
  const client = new Client({ connection })
  return {
    runTask: async (): Promise<void> => {
      const workflowId = randomUUID()
      await client.workflow.execute('bareTask', { workflowId, taskQueue, args: [workflowId] })
    },
    async stop(): Promise<void> {
      await Promise.all(workers.map((worker) => worker.kill()))
      await connection.close()
    },
  }
}
