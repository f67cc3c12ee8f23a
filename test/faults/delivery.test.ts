import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { Webhook } from 'standardwebhooks'

import { VIDEO_API } from '../support/client.ts'
import type { Client } from '../support/client.ts'
import { base64 } from '../support/pictures.ts'
import { answer, hangUp, reset, startWebhookReceiver } from '../support/receiver.ts'
import type { Received, Reply, WebhookReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'
import type { Service } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'
import { CREATE, clientOf } from './calls.ts'
import { makeRandom } from './random.ts'

const TASKS = Number(process.env['TASKS'] ?? 20)
/** The others are videos. */
const IMAGES = Math.round(TASKS * 0.8)

interface EventRow {
  id: string
  task_id: string
  sequence: number
  status: string
  deliver: boolean
  state: string
  is_last: boolean
}

describe('receivers that fail at random and are killed', () => {
  let service: Service
  let receiver: WebhookReceiver
  let alice: Client
  /** Ids of events that were answered with 2xx. */
  const taken = new Set<string>()

  before(async () => {
    receiver = await startWebhookReceiver()
    service = await startService({ env: { VIDEO_TINY: 'true', VIDEO_CONCURRENCY_PER_OWNER: '4' } })
    alice = await clientOf(service)
  })
  after(async () => {
    await service.stop()
    await receiver.stop()
  })

  const random = makeRandom(1)
  /** Takes four of five, and fails the others in one of three ways. */
  const moody: Reply = (turn) => {
    const drawn = random()
    if (drawn > 0.2) {
      taken.add(String(turn.request.headers['webhook-id']))
      return answer(204)(turn)
    }
    const fail = [answer(500), hangUp, reset][Math.floor(drawn * 15)]
    return fail?.(turn)
  }

  const create = async (number: number): Promise<void> => {
    const path = `/task/${number}?token=${number}`
    receiver.script(path, moody)
    const url = receiver.url(path)
    const image = await base64()
    const headers = { 'idempotency-key': `task-${number}` }
    // A busy machine may take longer than a request may: whoever asked asks again.
    const { status } = await waitFor('the creation is answered', async () => {
      const answer =
        number < IMAGES
          ? await alice.post(CREATE, { image, webhook_url: url }, headers)
          : await alice.post(`${VIDEO_API}/text2video`, { prompt: 'a', callback_url: url }, headers)
      return answer.status !== 503 && answer
    })
    assert.equal(status, 200)
  }

  const createAll = async (): Promise<void> => {
    let next = 0
    const lane = async (): Promise<void> => {
      while (next < TASKS) await create(next++)
    }
    await Promise.all(Array.from({ length: 8 }, lane))
  }

  /** Ends the receiver, and lets it come back once attempts have met nobody. */
  const killReceiver = async (): Promise<void> => {
    const { sql } = service.database
    const countRefused = async (): Promise<number> => {
      const [row] =
        await sql`select count(*)::integer as n from attempt where error_class = 'connect'`
      return Number(row?.['n'])
    }
    const before = await countRefused()
    await receiver.stop()
    await waitFor('attempts meet nobody', async () => (await countRefused()) > before + 5)
    await receiver.start()
  }

  test(`are told of every move of ${TASKS} tasks, by id exactly once, signed, and in order`, async () => {
    const creations = createAll()
    await waitFor('some are told', () => Promise.resolve(receiver.received.length > TASKS / 5))
    await killReceiver()
    await waitFor('more are told', () => Promise.resolve(receiver.received.length > TASKS))
    await killReceiver()
    await creations
    const { sql } = service.database
    await waitFor(
      'every event is settled',
      async () => {
        const open = await sql`
          select from task t where ended_at is null
            or exists (select from event e where e.task_id = t.id and e.state = 'pending')
          limit 1
        `
        return open.length === 0
      },
      150_000,
    )
    const events = await sql<EventRow[]>`
      select e.id, e.task_id, e.sequence, e.status, e.deliver, e.state,
        e.sequence = t.last_sequence as is_last
      from event e join task t on t.id = e.task_id
    `
    assertSettled(events)
    await assertReceived(events)
  })

  /** What media.md says is told has arrived, or a later event has taken its place. */
  const assertSettled = (events: EventRow[]): void => {
    for (const { sequence, deliver, state, is_last: isLast } of events) {
      const allowed = !deliver ? ['unsent'] : isLast ? ['delivered'] : ['delivered', 'superseded']
      assert.ok(allowed.includes(state), `event ${sequence}: ${state}`)
    }
    const delivered = events.filter(({ state }) => state === 'delivered').map(({ id }) => id)
    assert.deepEqual([...taken].toSorted(), delivered.toSorted())
    const videos = TASKS - IMAGES
    assert.equal(events.length, 3 * IMAGES + 4 * videos)
  }

  /** Nothing arrived that was not committed; every request is ours; nobody hears of a later move before an earlier one. */
  const assertReceived = async (events: EventRow[]): Promise<void> => {
    const known = new Map(events.map((event) => [event.id, event]))
    const { body } = await alice.get('/webhook-secret')
    const [{ secret = '' } = {}] = body['secrets'] as unknown as { secret?: string }[]
    const verifier = new Webhook(secret)
    const last = new Map<string, number>()
    for (const request of receiver.received) {
      const event = known.get(String(request.headers['webhook-id']))
      assert.ok(event, 'a request for no event')
      const told = verifier.verify(request.body.toString(), headersOf(request)) as Told
      assert.equal(told.task_id ?? told.id, event.task_id)
      assert.equal(told.status ?? told.state, event.status)
      assert.equal(request.headers['webhook-sequence'], String(event.sequence))
      const before = last.get(request.path) ?? 0
      assert.ok(event.sequence >= before, `${event.sequence} after ${before}`)
      last.set(request.path, event.sequence)
    }
  }

  interface Told {
    task_id?: string
    status?: string
    id?: string
    state?: string
  }

  const headersOf = ({ headers }: Received): Record<string, string> =>
    headers as Record<string, string>
})

describe('core workers that are killed while they tell a receiver', () => {
  let service: Service
  let receiver: WebhookReceiver
  before(async () => {
    receiver = await startWebhookReceiver()
    service = await startService({ roles: ['api', 'media'] })
  })
  after(async () => {
    await service.stop()
    await receiver.stop()
  })

  test('leave what was under way to others, who tell it again with the same id', async () => {
    const killed = await Promise.all([
      service.start('core', { FAILPOINT: 'deliver.after-answer:2' }),
      service.start('core', { FAILPOINT: 'deliver.after-record:2' }),
    ])
    const alice = await clientOf(service)
    for (let i = 0; i < 6; i++) {
      const url = receiver.url(`/${i}`)
      await alice.post(CREATE, { image: await base64(), webhook_url: url })
    }
    assert.deepEqual(await Promise.all(killed.map((core) => core.ended)), ['SIGKILL', 'SIGKILL'])
    await service.start('core')
    const { sql } = service.database
    await waitFor('all is told', async () => {
      const open = await sql`select from event where deliver and state <> 'delivered' limit 1`
      const ended = await sql`select from task where ended_at is null limit 1`
      return open.length + ended.length === 0
    })
    const ids = receiver.received.map(({ headers }) => String(headers['webhook-id']))
    const [row] = await sql`select count(*)::integer as n from event where deliver`
    assert.equal(new Set(ids).size, row?.['n'])
    // The one that was answered and not recorded came twice, and its attempt says that nobody knows.
    assert.ok(ids.length > new Set(ids).size, 'nothing came twice')
    const lost = await sql`select from attempt where error_class = 'unknown'`
    assert.ok(lost.length > 0, 'no attempt was lost')
  })
})
