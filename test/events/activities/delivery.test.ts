import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { before, describe, mock, test } from 'node:test'

import { ApplicationFailure, CancelledFailure } from '@temporalio/activity'
import type { MockActivityEnvironment } from '@temporalio/testing'
import { Webhook } from 'standardwebhooks'

import { listAttempts } from '../../../src/events/db/redelivery.ts'
import type { DeliveryDependencies } from '../../../activities/events/dependencies.ts'
import { makeEventActivities } from '../../../activities/events/delivery.ts'
import type { DeliveryStep, SendResult } from '../../../activities/events/delivery.ts'
import { makeSendAttempt } from '../../../activities/events/send-attempt.ts'
import type { PostLimits } from '../../../src/platform/outbound/post.ts'
import { makeClient } from '../../../src/platform/outbound/client.ts'
import { openSystemSocket, type Network } from '../../../src/platform/outbound/connector.ts'
import { makeResolver } from '../../../src/platform/outbound/resolver.ts'
import { makeAttemptSlots, ATTEMPT_SLOTS } from '../../../src/platform/outbound/attempt-slots.ts'
import { makeWebhookSecret } from '../../../src/events/adapters/webhook.ts'
import type { Target } from '../../../src/events/db/attempt.ts'
import { insertTaskResults } from '../../../src/tasks/db/task-file.ts'
import { recordProgress } from '../../../src/tasks/db/task.ts'
import { DELIVERY_SCHEDULE } from '../../../src/events/domain/delivery-schedule.ts'
import { unitOfWork } from '../../../src/platform/db/unit-of-work.ts'
import {
  begin,
  eventOf,
  failFirst,
  insertDueEvent,
  listStates,
  transition,
  redeliver,
  seeAttempts,
  seeEvents,
} from '../db/notified-task.ts'
import { makeCertificate } from '../../support/certificate.ts'
import { makeTestNetwork } from '../../support/network.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import {
  respond,
  flood,
  hang,
  inTurn,
  reset,
  startWebhookReceiver,
  useWebhookReceiver,
} from '../../support/receiver.ts'
import type { Received, Reply } from '../../support/receiver.ts'
import { waitFor } from '../../support/wait.ts'
import {
  makeEnvironment,
  PATIENT_LIMITS,
  startOf,
  usePlace,
  WEBHOOK_SECRET,
} from '../../tasks/activities/place.ts'
import {
  claimVideo,
  enterVideo,
  failVideoTask,
  finishVideo,
  getVideo,
} from '../../tasks/activities/video-place.ts'

/** Makes one attempt as a worker would. */
const send = (
  deps: DeliveryDependencies,
  target: Target,
  environment: MockActivityEnvironment = makeEnvironment(),
): Promise<SendResult> =>
  environment.run<[Target], SendResult, (target: Target) => Promise<SendResult>>(
    makeEventActivities(deps, makeSendAttempt(deps)).sendEvent,
    target,
  )

const readStep = (deps: DeliveryDependencies, taskId: string): Promise<DeliveryStep> =>
  makeEventActivities(deps, makeSendAttempt(deps)).nextDelivery(taskId)
const readRedeliveryStep = (deps: DeliveryDependencies, id: string): Promise<DeliveryStep> =>
  makeEventActivities(deps, makeSendAttempt(deps)).nextRedelivery(id)

/** Limits for receivers that never respond: nothing else depends on how quick this machine is. */
const QUICK = { ...PATIENT_LIMITS, headersMs: 300 }
const AT_ONCE = { waitMs: 0, signal: new AbortController().signal }
const RULES = { allowLoopback: true, ports: [], deny: [] }

describe('one attempt to deliver an event', () => {
  const place = usePlace()
  let deps: DeliveryDependencies
  const receiver = useWebhookReceiver()
  before(() => {
    const delivery = { schedule: DELIVERY_SCHEDULE, deferSeconds: 5, limits: PATIENT_LIMITS }
    deps = { ...place.deps, delivery, random: Math.random }
  })

  let paths = 0
  const nextPath = (): string => `/hook-${(paths += 1)}`
  /** A task with an event that is due. */
  const due = (url: string) => insertDueEvent(deps.sql, { url })
  const at = async (reply: Reply): Promise<{ id: string; eventId: string; path: string }> => {
    const path = nextPath()
    receiver.script(path, reply)
    return { path, ...(await due(receiver.url(path))) }
  }
  /** Bounds of the wait behind an attempt, in seconds: it ended somewhere between its begin and now. */
  const waitOf = async (eventId: string): Promise<{ min: number; max: number }> => {
    const [row] = await deps.sql<{ min: number; max: number }[]>`
      select extract(epoch from next_due_at - clock_timestamp())::float8 as min,
        extract(epoch from next_due_at - started_at)::float8 as max
      from attempt where event_id = ${eventId} order by number desc limit 1
    `
    return row ?? { min: NaN, max: NaN }
  }

  const soon = [4, 6] as const
  const busy = [60, 72] as const
  interface Expected {
    status?: number
    errorClass?: string
    response?: string
    /** Bounds of the wait in seconds. */
    wait?: readonly [number, number]
    state?: string
  }
  const delivered = (status: number, response = ''): Expected => ({
    status,
    response,
    state: 'delivered 0',
  })
  const failed = (status: number, wait: readonly [number, number], response = ''): Expected => ({
    status,
    errorClass: status < 500 ? 'status_4xx' : 'status_5xx',
    response,
    wait,
  })
  const gone: Expected = { status: 410, errorClass: 'gone', response: '', state: 'stopped 1' }
  const date: Reply = ({ response }) => {
    const inTime = new Date(Date.now() + 90_000).toUTCString()
    response.writeHead(503, { 'retry-after': inTime }).end()
  }
  const long = 'x'.repeat(1024)
  const CASES: [what: string, Reply, Expected, PostLimits?][] = [
    ['responds with 204', respond(204), delivered(204)],
    ['responds with text', respond(200, {}, 'thank\u0000 you\n'), delivered(200, 'thank you')],
    ['responds with 500', respond(500, {}, 'oh'), failed(500, soon, 'oh')],
    ['responds with 404', respond(404), failed(404, soon)],
    ['responds with 502', respond(502), failed(502, busy)],
    ['responds with 429', respond(429), failed(429, busy)],
    ['says when to come', respond(429, { 'retry-after': '100' }), failed(429, [100, 100])],
    ['says to come much later', respond(503, { 'retry-after': '7200' }), failed(503, [3600, 3600])],
    ['responds with 503 and a date', date, failed(503, [88, 90])],
    ['responds with 410', respond(410), gone],
    ['hangs', hang, { errorClass: 'timeout', wait: busy }, QUICK],
    ['floods behind 200', flood(200), delivered(200, long)],
    ['resets', reset, { errorClass: 'reset', wait: soon }],
  ]

  const assertAttempt = async (
    { id, eventId, url }: { id: string; eventId: string; url: string },
    { status, errorClass, response, wait, state }: Expected,
    address: string | null = '127.0.0.1',
  ): Promise<void> => {
    const [row, ...others] = await seeAttempts(deps.sql, eventId)
    assert.ok(row, 'there is an attempt')
    assert.equal(others.length, 0)
    const { next_due_at: dueAt, duration_ms: took, answer: said, ...rest } = row
    const error_class = errorClass ?? null
    assert.deepEqual(rest, { number: 1, url, address, status: status ?? null, error_class })
    assert.equal(said, response ?? null)
    assert.ok(took !== null && took >= 0 && took < PATIENCE_MS, `${took} ms`)
    assert.equal((await listStates(deps.sql, id))[1], `IN_PROGRESS ${state ?? 'pending 1'}`)
    const [, event] = await seeEvents(deps.sql, id)
    assert.deepEqual(event?.next_attempt_at, dueAt)
    assert.equal(dueAt === null, wait === undefined)
    if (!wait) return
    const { min, max } = await waitOf(eventId)
    assert.ok(max >= wait[0] && min <= wait[1], `${min} to ${max} s`)
  }

  /** The sentence for operators, with no more of the URL than its host. */
  const toSentence = ({ errorClass, status, state }: Expected): string => {
    const host = `127.0.0.1:${receiver.port}`
    if (errorClass === undefined) return `delivered to ${host}`
    const last = state === undefined ? '' : '; there is no further attempt'
    return `failed at ${host}: ${[errorClass, status].filter(Boolean).join(' ')}${last}`
  }

  for (const [what, reply, expected, limits = PATIENT_LIMITS] of CASES)
    test(`records an attempt whose receiver ${what}`, async () => {
      const { path, ...target } = await at(reply)
      const delivery = { ...deps.delivery, limits }
      const sent = await send({ ...deps, delivery }, target)
      assert.deepEqual(sent, { deferMs: 0, outcome: toSentence(expected) })
      await assertAttempt({ ...target, url: receiver.url(path) }, expected)
      assert.equal(receiver.of(path).length, 1)
    })

  test('follows nowhere', async () => {
    const other = nextPath()
    const { path, ...target } = await at(
      respond(301, { location: `${receiver.url(other)}?token=1` }, 'away'),
    )
    await send(deps, target)
    const expected = { status: 301, errorClass: 'status_3xx', response: 'away', wait: soon }
    await assertAttempt({ ...target, url: receiver.url(path) }, expected)
    const [row] = await listAttempts(deps.sql, target.eventId)
    assert.equal(
      row?.error_detail,
      `redirects to ${receiver.url(other)}; webhooks follow no redirect`,
    )
    assert.equal(receiver.of(other).length, 0)
  })

  describe('that reaches nobody', () => {
    const HOST = 'hooks.example.com'
    const url = `https://${HOST}/hook`
    const through = (responses: Record<string, readonly string[][]>): DeliveryDependencies => {
      const network = makeTestNetwork(receiver.port, '', responses)
      return { ...deps, outbound: makeClient({ ...RULES, allowLoopback: false }, network) }
    }
    const PRIVATE = { [HOST]: [['10.0.0.1']] }
    const NOBODY: [why: string, at: string, Record<string, string[][]>, errorClass: string][] = [
      ['the name does not exist', url, {}, 'dns'],
      ['the name leads to a private address', url, PRIVATE, 'address_refused'],
      ['the address of the task is not allowed', 'http://127.0.0.1:1/x', {}, 'address_refused'],
    ]
    for (const [why, at, responses, errorClass] of NOBODY)
      test(`because ${why}`, async () => {
        const target = await due(at)
        await send(through(responses), target)
        await assertAttempt({ ...target, url: at }, { errorClass, wait: soon }, null)
      })

    test('because the name turns to loopback between two attempts', async () => {
      const target = await due(url)
      const flipping = through({ [HOST]: [['93.184.215.14'], ['127.0.0.1']] })
      const offered = receiver.connections()
      await send(flipping, target)
      await send(flipping, target)
      const classes = (await seeAttempts(deps.sql, target.eventId)).map((row) => row.error_class)
      // The receiver speaks no TLS: what counts is that the second attempt opened no connection.
      assert.deepEqual(classes, ['tls', 'address_refused'])
      assert.equal(receiver.connections(), offered + 1)
    })

    test('because nobody listens', async () => {
      const gone = await startWebhookReceiver()
      await gone.stop()
      const url = gone.url('/')
      const target = await due(url)
      await send(deps, target)
      await assertAttempt({ ...target, url }, { errorClass: 'connect', wait: soon })
    })

    test('because its certificate has expired', async (t) => {
      mock.timers.enable({ apis: ['Date'], now: Date.now() - 20 * 86_400_000 })
      const certificate = makeCertificate(['127.0.0.1'])
      mock.timers.reset()
      const expired = await startWebhookReceiver({ certificate })
      t.after(expired.stop)
      const network = { resolve: makeResolver(), openSocket: openSystemSocket }
      const outbound = makeClient(RULES, { ...network, ca: certificate.cert })
      const url = expired.url('/')
      const target = await due(url)
      await send({ ...deps, outbound }, target)
      await assertAttempt({ ...target, url }, { errorClass: 'tls', wait: soon })
    })
  })

  describe('sends', () => {
    const sent = async (target: Target, path: string, with_ = deps): Promise<Received> => {
      await send(with_, target)
      const last = receiver.of(path).at(-1)
      assert.ok(last, 'it was received')
      return last
    }
    const bodyOf = ({ body }: Received): unknown => JSON.parse(body.toString())

    test('what the public verifier accepts, with the sequence of the event', async () => {
      const { path, ...target } = await at(respond(204))
      const second = makeWebhookSecret()
      const active = () => Promise.resolve([WEBHOOK_SECRET, second])
      const { body, headers } = await sent(target, path, { ...deps, webhookSecrets: { active } })
      assert.equal(headers['webhook-id'], target.eventId)
      assert.equal(headers['webhook-sequence'], '2')
      assert.equal(headers['content-type'], 'application/json')
      assert.equal(String(headers['webhook-signature']).split(' ').length, 2)
      for (const secret of [WEBHOOK_SECRET, second])
        new Webhook(secret).verify(body.toString(), headers as Record<string, string>)
      const other = new Webhook(makeWebhookSecret())
      assert.throws(() => other.verify(body.toString(), headers as Record<string, string>))
    })

    test('the time of the attempt, signed with the secrets of the owner', async () => {
      const { path, ...target } = await at(respond(500))
      const now = new Date('2030-01-01T00:00:00.900Z')
      const active = mock.fn(async (_owner: string) => [WEBHOOK_SECRET])
      const webhookSecrets = { active }
      const { headers } = await sent(target, path, { ...deps, now: () => now, webhookSecrets })
      assert.equal(headers['webhook-timestamp'], String(now.getTime() / 1000 - 0.9))
      assert.equal(active.mock.calls.map((call) => call.arguments).join(), 'alice')
    })

    test('the flat record of an image as it was at the move, with links signed now', async () => {
      const { path, ...target } = await at(respond(500))
      const file = { contentType: 'image/png', bytes: 1, sha256: 'x', width: 1, height: 1 }
      const name = 'result-1.png'
      await deps.sql.begin((sql) =>
        insertTaskResults(sql, target.id, { results: [{ ...file, name, storageKey: 'k' }] }),
      )
      await transition(deps.sql, target.id, 'COMPLETED')
      const task_id = target.id
      const begun = { task_id, status: 'IN_PROGRESS', generated: [] }
      assert.deepEqual(bodyOf(await sent(target, path)), begun)
      const eventId = await eventOf(deps.sql, task_id, 'COMPLETED')
      for (const now of [new Date('2030-01-01T00:00:00Z'), new Date('2030-01-03T00:00:00Z')]) {
        const ended = await sent({ eventId }, path, { ...deps, now: () => now })
        const generated = [deps.signer.signFile(task_id, name, now)]
        assert.deepEqual(bodyOf(ended), { task_id, status: 'COMPLETED', generated })
      }
    })

    test('why an image failed', async () => {
      const { path, ...target } = await at(respond(204))
      await transition(deps.sql, target.id, 'FAILED')
      const record = { task_id: target.id, generated: [] }
      assert.deepEqual(bodyOf(await sent(target, path)), { ...record, status: 'IN_PROGRESS' })
      const eventId = await eventOf(deps.sql, target.id, 'FAILED')
      const error = { code: 'cancelled', message: 'cancelled' }
      const ended = { ...record, status: 'FAILED', error }
      assert.deepEqual(bodyOf(await sent({ eventId }, path)), ended)
    })

    const EARLIER = {
      err_code: '',
      err_msg: '',
      credits: 10,
      payload: '{"mine": "ä"}',
      bgm: false,
      off_peak: false,
      progress: 0,
      creations: [],
    }
    const given = { owner: 'vera', payload: EARLIER.payload }

    test('of a video that failed what was charged, and at its end nothing, with what its engine said', async () => {
      const path = nextPath()
      const id = await getVideo(deps, { ...given, webhookUrl: receiver.url(path) })
      await enterVideo(deps, id, 9)
      await claimVideo(deps, id)
      await recordProgress(deps.sql, { id, fence: 1, percent: 45 })
      const bodyAt = async (status: string): Promise<unknown> =>
        bodyOf(await sent({ eventId: await eventOf(deps.sql, id, status) }, path))
      // While it is rendered, and also when it is delivered late.
      for (const state of ['queueing', 'processing'])
        assert.deepEqual(await bodyAt(state), { id, state, ...EARLIER })
      await deps.sql`update event set state = 'pending' where task_id = ${id} and sequence > 1`
      const said = { engine_error: 'no face', engine_error_shown: true }
      await deps.sql`update task set ${deps.sql(said)} where id = ${id}`
      const error = { code: 'ModelUnavailable', message: 'no model' }
      await unitOfWork(deps, (sql, enqueue) =>
        failVideoTask(sql, { id, error }, { slots: 9, startOf, enqueue }),
      )
      for (const state of ['queueing', 'processing'])
        assert.deepEqual(await bodyAt(state), { id, state, ...EARLIER })
      const why = { err_code: 'ModelUnavailable', err_msg: 'no model', engine_error: 'no face' }
      const end = { ...EARLIER, ...why, credits: 0, progress: 45 }
      assert.deepEqual(await bodyAt('failed'), { id, state: 'failed', ...end })
    })

    test('the creation of a video with its end only', async () => {
      const path = nextPath()
      const files = ['video.mp4', 'cover.jpg', 'watermarked.mp4']
      const id = await finishVideo(deps, { ...given, webhookUrl: receiver.url(path), files })
      const now = new Date('2030-01-01T00:00:00Z')
      const bodyAt = async (status: string): Promise<unknown> => {
        const eventId = await eventOf(deps.sql, id, status)
        return bodyOf(await sent({ eventId }, path, { ...deps, now: () => now }))
      }
      assert.deepEqual(await bodyAt('processing'), { id, state: 'processing', ...EARLIER })
      const [row] = await deps.sql<{ id: string }[]>`select id from creation where task_id = ${id}`
      const [url, cover, marked] = files.map((name) => deps.signer.signFile(id, name, now))
      const video = { duration: 5.5, fps: 24, resolution: { width: 64, height: 36 } }
      const links = { url, cover_url: cover, watermarked_url: marked, moderation_url: [] }
      const end = { ...EARLIER, progress: 100, creations: [{ id: row?.id, ...links, video }] }
      assert.deepEqual(await bodyAt('success'), { id, state: 'success', ...end })
    })

    test('a redelivery with the same id', async () => {
      const { path, ...target } = await at(respond(204))
      await send(deps, target)
      const redeliveryId = await redeliver(deps.sql, target.eventId)
      const { headers } = await sent({ eventId: target.eventId, redeliveryId }, path)
      assert.equal(headers['webhook-id'], target.eventId)
      assert.equal(receiver.of(path).length, 2)
      assert.deepEqual(await readRedeliveryStep(deps, redeliveryId), { kind: 'done' })
    })
  })

  describe('that comes before its schedule', () => {
    /** An event whose next attempt was due in an hour, after so many failures, and is made now. */
    const hastened = async (reply: Reply, failures: number) => {
      const { path, ...target } = await at(respond(500))
      for (let i = 0; i < failures; i++) await send(deps, target)
      receiver.script(path, reply)
      await deps.sql`
        update event set scheduled_at = now() + interval '1 hour', next_attempt_at = now()
        where id = ${target.eventId}
      `
      await send(deps, target)
      return target
    }
    const LAST = DELIVERY_SCHEDULE.steps.length - 1

    for (const failures of [1, LAST])
      test(`takes no step of it after ${failures} failures`, async () => {
        const { id, eventId } = await hastened(respond(500), failures)
        assert.equal((await listStates(deps.sql, id))[1], `IN_PROGRESS pending ${failures}`)
        const { min, max } = await waitOf(eventId)
        assert.ok(max > 3500 && min <= 3600, `${min} to ${max} s`)
      })

    test('leaves the next attempt its number in the schedule', async () => {
      const { eventId } = await hastened(respond(500), 1)
      await deps.sql`update event set next_attempt_at = now() where id = ${eventId}`
      await send(deps, { eventId })
      const { min, max } = await waitOf(eventId)
      assert.ok(max >= 12 && min <= 18, `${min} to ${max} s`)
    })

    test('holds the Retry-After of its response', async () => {
      const { eventId } = await hastened(respond(503, { 'retry-after': '3600' }), 1)
      const { max } = await waitOf(eventId)
      assert.ok(max >= 3600, `${max} s`)
      const [row] = await deps.sql`
        select hasten_after > now() + interval '59 minutes' as held from event where id = ${eventId}
      `
      assert.equal(row?.['held'], true)
    })

    test('ends with 410', async () => {
      const { id } = await hastened(respond(410), 1)
      assert.equal((await listStates(deps.sql, id))[1], 'IN_PROGRESS stopped 1')
    })
  })

  test('defers an attempt whose host has eight under way, without counting it', async () => {
    const capped = { ...deps, attemptSlots: makeAttemptSlots() }
    const path = nextPath()
    const waiting: (() => void)[] = []
    receiver.script(path, ({ response }) => waiting.push(() => response.writeHead(204).end()))
    const tasks = await Promise.all(Array.from({ length: 9 }, () => due(receiver.url(path))))
    const under = tasks.slice(0, 8).map((task) => send(capped, task))
    await waitFor('eight are under way', () => waiting.length === 8)
    const [ninth] = tasks.slice(8)
    assert.ok(ninth, 'there are nine')
    assert.deepEqual(await send(capped, ninth), { deferMs: 5000 })
    assert.deepEqual(await seeAttempts(deps.sql, ninth.eventId), [])
    const elsewhere = await due(receiver.url(nextPath(), 'localhost'))
    assert.equal((await send(capped, elsewhere)).deferMs, 0)
    for (const respondNow of waiting) respondNow()
    await Promise.all(under)
    receiver.script(path, respond(204))
    assert.equal((await send(capped, ninth)).deferMs, 0)
    assert.equal((await listStates(deps.sql, ninth.id))[1], 'IN_PROGRESS delivered 0')
    assert.equal(capped.attemptSlots.size(), 0)
  })

  describe('a full limit', () => {
    const NETWORK = '2606:2800:21f:'
    const OTHER = '93.184.215.14'
    /** A network in which connections, or look-ups already, never end; counts those that have begun. */
    const makeHanging = (hangs: 'connections' | 'look-ups') => {
      let begun = 0
      const network: Network = {
        resolve: async (host) => {
          if (hangs === 'connections') return [`${NETWORK}:${host.length}`, OTHER]
          begun += 1
          return await new Promise(() => {})
        },
        openSocket: ({ signal }) => {
          begun += 1
          return connect({ host: 'never.example.com', port: 9, signal, lookup: () => {} })
        },
      }
      return { begun: () => begun, network }
    }
    const dueFor = (owner: string, host: string) =>
      insertDueEvent(deps.sql, { url: `https://${host}.zone.example/hook`, owner })

    const FULL: [string, Partial<typeof ATTEMPT_SLOTS>, 'connections' | 'look-ups', string][] = [
      ['its network has enough, whatever the names', { address: 2 }, 'connections', 'ann'],
      ['its owner has enough, whatever the hosts', { owner: 2 }, 'connections', 'eve'],
      ['its account has enough, whatever the hosts', { account: 2 }, 'connections', 'eve'],
      ['its account has enough look-ups', { lookUpsOfAccount: 2 }, 'look-ups', 'eve'],
      ['there are enough look-ups', { lookUps: 2 }, 'look-ups', 'ann'],
    ]
    for (const [when, limits, hangs, other] of FULL)
      test(`defers an attempt, without counting it, when ${when} under way`, async () => {
        const { begun, network } = makeHanging(hangs)
        const capped = {
          ...deps,
          attemptSlots: makeAttemptSlots({ ...ATTEMPT_SLOTS, ...limits }),
          outbound: makeClient({ ...RULES, allowLoopback: false }, network),
        }
        const environment = makeEnvironment()
        const [first, second] = [await dueFor('eve', 'a'), await dueFor(other, 'bb')]
        const third = await dueFor('eve', 'c')
        const held = [first, second].map((task) => send(capped, task, environment))
        await waitFor('two hang', () => begun() === 2)
        assert.deepEqual(await send(capped, third), { deferMs: 5000 })
        assert.deepEqual(await seeAttempts(deps.sql, third.eventId), [])
        const ofOthers = await capped.attemptSlots.take([['address', OTHER]], AT_ONCE)
        assert.ok(ofOthers.release, 'a name takes no slot of an address that it only lists')
        ofOthers.release()
        environment.cancel()
        for (const one of held) await assert.rejects(one, CancelledFailure)
        assert.equal(capped.attemptSlots.size(), 0)
      })
  })

  test('sends nothing for an event that was delivered', async () => {
    const { path, ...target } = await at(respond(204))
    await send(deps, target)
    assert.deepEqual(await send(deps, target), { deferMs: 0 })
    assert.equal(receiver.of(path).length, 1)
  })

  describe('that ends before its response', () => {
    test('because it is cancelled, is lost, and sent again later', async () => {
      const { path, ...target } = await at(inTurn(hang, respond(204)))
      await failFirst(deps.sql, target.eventId)
      const environment = makeEnvironment()
      const sending = send(deps, target, environment)
      await waitFor('it is received', () => receiver.of(path).length === 1)
      environment.cancel()
      await assert.rejects(sending, CancelledFailure)
      const logged = mock.method(deps.log, 'info')
      const step = await readStep(deps, target.id)
      const lines = logged.mock.calls.map((call) => (call.arguments as unknown[])[1])
      logged.mock.restore()
      assert.deepEqual(lines, ['attempt lost with its worker'])
      assert.ok(step.kind === 'send', step.kind)
      assert.deepEqual([step.failures, step.lastFailure], [2, 'unknown'])
      assert.equal(step.waitMs, 0, 'it is sent again at once')
      const [row] = await seeAttempts(deps.sql, target.eventId)
      assert.deepEqual([row?.error_class, row?.duration_ms], ['unknown', null])
      assert.ok(row?.next_due_at, 'the next one is due')
      await send(deps, target)
      assert.equal((await listStates(deps.sql, target.id))[1], 'IN_PROGRESS delivered 2')
    })

    test('leaves no slot of its host taken, and beats while it goes on', async () => {
      const capped = { ...deps, attemptSlots: makeAttemptSlots() }
      const { path, ...target } = await at(hang)
      const environment = makeEnvironment()
      let beats = 0
      environment.on('heartbeat', () => (beats += 1))
      const sending = send(capped, target, environment)
      await waitFor('it is received', () => receiver.of(path).length === 1)
      await waitFor('it beats', () => beats > 0)
      assert.equal(capped.attemptSlots.size(), 4)
      environment.cancel()
      await assert.rejects(sending, CancelledFailure)
      assert.equal(capped.attemptSlots.size(), 0)
    })

    test('gives Temporal no reason why an attempt was lost', async () => {
      const { path, ...target } = await at(respond(204))
      await failFirst(deps.sql, target.eventId)
      const active = () => Promise.reject(new Error(`no key fits ${WEBHOOK_SECRET}`))
      await assert.rejects(send({ ...deps, webhookSecrets: { active } }, target), (error) => {
        assert.ok(error instanceof ApplicationFailure, String(error))
        assert.deepEqual([error.type, error.nonRetryable], ['attempt_lost', true])
        assert.doesNotMatch(`${error.message} ${error.stack} ${String(error.cause)}`, /whsec_/)
        return true
      })
      assert.equal(receiver.of(path).length, 0)
      const step = await readStep(deps, target.id)
      assert.deepEqual(step.kind === 'send' && step.failures, 2)
    })

    test('takes no step of the schedule, up to three in a row', async () => {
      const { path, ...target } = await at(inTurn(respond(500), respond(500)))
      await send(deps, target)
      const waits: number[] = []
      for (let lost = 1; lost <= 5; lost++) {
        await begin(deps.sql, target)
        const step = await readStep(deps, target.id)
        assert.ok(step.kind === 'send', step.kind)
        waits.push(Math.round(step.waitMs / 4_000))
      }
      assert.deepEqual(waits, [0, 0, 0, 1, 1], 'then the 5 s after the failure before')
      await send(deps, target)
      const next = await readStep(deps, target.id)
      assert.ok(next.kind === 'send' && next.waitMs > 8_000, 'the second failure, 15 s')
      assert.equal(receiver.of(path).length, 2)
    })

    test('ends all the same where each is lost', async () => {
      const { id, eventId } = await at(respond(204))
      await failFirst(deps.sql, eventId)
      let lost = 0
      for (; lost < 100; lost++) {
        await begin(deps.sql, { eventId })
        if ((await readStep(deps, id)).kind === 'done') break
      }
      assert.ok(lost < 60, `${lost} were lost`)
      assert.match((await listStates(deps.sql, id))[1] ?? '', /^IN_PROGRESS exhausted/)
    })
  })

  describe('the next step', () => {
    test('names the event to send, and no more of the receiver than its host', async () => {
      const { id, eventId } = await at(respond(204))
      const early = await readStep(deps, id)
      assert.deepEqual(early, { kind: 'done' }, 'a first attempt is none of its business')
      await failFirst(deps.sql, eventId)
      assert.deepEqual(await readStep(deps, id), {
        kind: 'send',
        target: { eventId },
        sequence: 2,
        status: 'IN_PROGRESS',
        failures: 1,
        waitMs: 0,
        lastFailure: null,
        host: `127.0.0.1:${receiver.port}`,
        pauseMs: 1000,
      })
    })

    test('of a redelivery', async () => {
      const { id, eventId } = await at(respond(410))
      const redeliveryId = await redeliver(deps.sql, eventId)
      const step = await readRedeliveryStep(deps, redeliveryId)
      assert.deepEqual(step.kind === 'send' && step.target, { eventId, redeliveryId })
      await begin(deps.sql, { eventId, redeliveryId })
      const lost = await readRedeliveryStep(deps, redeliveryId)
      assert.equal(lost.kind === 'send' && lost.failures, 1)
      await deps.sql`update redelivery set state = 'exhausted' where id = ${redeliveryId}`
      const done = { kind: 'done', taskInWait: id }
      assert.deepEqual(await readRedeliveryStep(deps, redeliveryId), done)
    })
  })
})
