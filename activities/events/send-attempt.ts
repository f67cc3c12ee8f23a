import { networkOf } from '../../src/platform/adapters/network-of.ts'
import type { SlotKind, Wanted } from '../../src/platform/outbound/attempt-slots.ts'
import type { Located } from '../../src/platform/outbound/locate.ts'
import type { Posted } from '../../src/platform/outbound/post.ts'
import { signWebhook } from '../../src/events/adapters/webhook.ts'
import { makeBatch } from '../../src/platform/db/batch.ts'
import type {
  AttemptKey,
  AttemptResult,
  AttemptVerdict,
  BegunAttempt,
  LostAttempt,
  SentEvent,
} from '../../src/events/db/attempt.ts'
import { listTraces } from '../../src/platform/db/outbox.ts'
import { findStatusClass, nextWait } from '../../src/events/domain/delivery-schedule.ts'
import type { FailedAttempt } from '../../src/events/domain/delivery-schedule.ts'
import type { AttemptErrorClass } from '../../src/events/domain/event.ts'
import { endpointSecretOwner } from '../../src/events/domain/endpoint.ts'
import { parseRetryAfter } from '../../src/platform/domain/retry-after.ts'
import { failpoint } from '../../src/platform/process/failpoint.ts'
import type { DeliveryDependencies } from './dependencies.ts'
import { makeEventBody } from './event-body.ts'

export interface AttemptJob {
  eventId: string
  /** URL that the event is sent to, with the owner and account that the attempt counts for. */
  webhook: { url: string; owner: string; account: string }
  /** The event, where it is known: what is sent is read while the attempt is written down. */
  event?: SentEvent
  /** Longest wait for a slot, in milliseconds. */
  waitMs: number
  /** Writes the attempt down; undefined when there is nothing to send any more. */
  writeDown(): Promise<BegunAttempt | undefined>
  /** Records what came of it. */
  complete(begun: BegunAttempt, outcome: AttemptOutcome): Promise<void>
  /** Ends the attempt, which then is lost. */
  signal?: AbortSignal
}

export interface AttemptOutcome {
  result: AttemptResult
  verdict: AttemptVerdict
}

/** Nothing was done: there are as many at once as may be. */
export interface Deferral {
  /** To wait. */
  seconds: number
  full: SlotKind
}

export type SendAttempt = (job: AttemptJob) => Promise<Deferral | undefined>

/**
 * Makes the function that makes one attempt: writes it down, signs and sends it, and records what it means for the
 * event. When there are as many at once as may be of its host, address or owner, it returns when to come back.
 */
export const makeSendAttempt = (deps: DeliveryDependencies): SendAttempt => {
  const makeBody = makeEventBody(deps)
  const trace = makeTraceAttempt(deps)

  const read = (event: SentEvent) =>
    Promise.all([makeBody(event), deps.webhookSecrets.active(secretOwnerOf(event))])

  const post = async (
    job: AttemptJob,
    { begun, content, located }: { begun: BegunAttempt; content: Content; located: Located },
  ): Promise<Posted> => {
    const [payload, secrets] = await content
    const body = Buffer.from(JSON.stringify(payload))
    const timestamp = Math.floor(deps.now().getTime() / 1000)
    const own = begun.endpoint?.headers
    const headers = {
      ...(own && deps.endpointHeaders.decrypt(own)),
      ...signWebhook({ id: job.eventId, timestamp, body, secrets }),
      'webhook-sequence': String(begun.sequence),
    }
    const send = (traced: Record<string, string>): Promise<Posted> =>
      deps.outbound.post({
        url: begun.url,
        headers: { ...headers, ...traced },
        body,
        located,
        limits: deps.delivery.limits,
        signal: job.signal,
      })
    return await trace(job, begun, send)
  }

  const send = (job: AttemptJob): Promise<Sent | Deferral> => {
    const { url, owner, account } = job.webhook
    const ofUrl: Wanted[] = [
      ['host', hostOf(url)],
      ['owner', owner],
      ['account', account],
    ]
    const ofLookUp: Wanted[] = [
      ['lookUps', ''],
      ['lookUpsOfAccount', account],
    ]
    return holding(deps, job, ofUrl, async () => {
      const located = await holding(deps, job, ofLookUp, () =>
        deps.outbound.locate({
          url,
          signal: job.signal,
          timeoutMs: deps.delivery.limits?.connectMs,
        }),
      )
      if ('full' in located) return located
      // The first alone, which is dialled first: a name may list addresses of others, to take their slots.
      const ofAddress = located.addresses
        .slice(0, 1)
        .map((address): Wanted => ['address', networkOf(address)])
      return await holding(deps, job, ofAddress, async (): Promise<Sent> => {
        const early = job.event && read(job.event)
        // Where the attempt is not made nobody asks what became of it.
        early?.catch(() => {})
        const begun = await job.writeDown()
        if (!begun) return undefined
        const content = early ?? read(begun)
        return { begun, posted: await post(job, { begun, content, located }) }
      })
    })
  }

  return async (job) => {
    const sent = await send(job)
    if (!sent || 'full' in sent) return sent
    const { begun, posted } = sent
    failpoint('deliver.after-response')
    const outcome = decideOutcome(deps, begun, posted)
    const { errorClass = 'delivered', durationMs } = outcome.result
    deps.metrics?.attempts.observe({ class: errorClass }, durationMs / 1000)
    await job.complete(begun, outcome)
    failpoint('deliver.after-record')
    log(deps, job, begun, outcome.result, posted)
    return undefined
  }
}

/** The body of an attempt, and the secrets that sign it. */
type Content = Promise<[body: object, secrets: readonly string[]]>

type Sent = { begun: BegunAttempt; posted: Posted } | undefined

/** Works while it holds slots. Without them it does nothing: they come back in groups, and within a minute. */
const holding = async <T>(
  { attemptSlots, delivery }: DeliveryDependencies,
  { waitMs, signal }: AttemptJob,
  wanted: readonly Wanted[],
  work: () => Promise<T>,
): Promise<T | Deferral> => {
  const taken = await attemptSlots.take(wanted, { waitMs, signal })
  if (!taken.release)
    return { seconds: delivery.deferSeconds * Math.min(12, taken.groups), full: taken.full }
  try {
    return await work()
  } finally {
    taken.release()
  }
}

/** Names whose secrets sign: a subscription's own, or the owner's for a URL that a task or batch names. */
const secretOwnerOf = ({ owner, endpoint }: SentEvent): string =>
  endpoint?.id ? endpointSecretOwner(endpoint.id) : owner

/** Host of a webhook URL, with its port where it names one. */
export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : '')

const decideOutcome = (
  deps: DeliveryDependencies,
  { failures, isHastened }: BegunAttempt,
  posted: Posted,
): AttemptOutcome => {
  const { address, durationMs, status } = posted
  const errorClass = posted.errorClass ?? findStatusClass(posted.status)
  const response = posted.errorClass === undefined ? posted.excerpt : undefined
  const errorDetail = describeFailure(posted)
  const result = { address, durationMs, status, errorClass, errorDetail, answer: response }
  // The schedule goes on behind a hastened attempt: what is decided is how long its host is left alone at least.
  const failed = isHastened ? 1 : failures + 1
  return { result, verdict: toVerdict(deps, failed, { posted, errorClass }) }
}

/** Describes to the owner of the webhook URL why it took no event, where class and status do not say it. */
const describeFailure = (posted: Posted): string | undefined => {
  if (posted.errorClass !== undefined) return posted.reason
  if (posted.status < 300 || posted.status > 399) return undefined
  const target = posted.redirectsTo ?? 'no address that this service calls'
  return `redirects to ${target}; webhooks follow no redirect`
}

const toVerdict = (
  deps: DeliveryDependencies,
  failures: number,
  { posted, errorClass }: { posted: Posted; errorClass: AttemptErrorClass | undefined },
): AttemptVerdict => {
  if (errorClass === undefined) return { state: 'delivered' }
  if (errorClass === 'gone') return { state: 'stopped' }
  const asked = posted.errorClass === undefined ? posted.retryAfter : undefined
  const retryAfterSeconds = parseRetryAfter(asked, deps.now())
  return failedVerdict(deps, failures, { errorClass, status: posted.status, retryAfterSeconds })
}

const log = (
  { log }: DeliveryDependencies,
  { eventId }: AttemptJob,
  { taskId, number, endpoint }: BegunAttempt,
  { errorClass, status }: AttemptResult,
  posted: Posted,
): void => {
  if (errorClass === undefined) return
  const cause = posted.errorClass === undefined ? undefined : posted.cause
  const of = endpoint === null ? { task_id: taskId } : { endpoint_id: endpoint.id }
  const facts = { ...of, event_id: eventId, number, class: errorClass, status }
  log.info({ ...facts, err: cause }, 'attempt did not deliver')
}

/** Logs that an attempt is given up as lost: its worker was killed, or stood still. */
export const logLost = (
  { log }: Pick<DeliveryDependencies, 'log'>,
  { eventId, number }: AttemptKey,
): void => log.info({ event_id: eventId, number }, 'attempt lost with its worker')

/** Decides on an event whose attempt failed: another one later, or the end of the schedule. */
const failedVerdict = (
  { delivery, random }: DeliveryDependencies,
  failures: number,
  failed: FailedAttempt,
): AttemptVerdict => {
  const { schedule } = delivery
  const wait = nextWait({ failures, failed, random: random(), schedule })
  if (wait) return { state: 'pending', waitSeconds: wait.seconds, askedSeconds: wait.askedSeconds }
  return { state: 'exhausted', disableSeconds: schedule.disableSeconds }
}

/** Attempts in a row that may be lost before the next one waits. */
const LOST_AT_ONCE = 3

/**
 * Decides on an event whose attempt was lost, which says nothing of the webhook URL: it is sent again at once. After three
 * in a row it waits as after the failure before, and each fourth counts as a failure, so that it ends.
 */
export const lostVerdict = (
  deps: DeliveryDependencies,
  { failures, lostBefore }: Pick<LostAttempt, 'failures' | 'lostBefore'>,
): AttemptVerdict => {
  const lost = lostBefore + 1
  if (lost <= LOST_AT_ONCE) return { state: 'pending', waitSeconds: 0 }
  const counted = failures + Math.floor(lost / (LOST_AT_ONCE + 1)) - 1
  return failedVerdict(deps, Math.max(1, counted), { errorClass: 'unknown' })
}

type Send = (headers: Record<string, string>) => Promise<Posted>

/** Makes what shows an attempt in the trace of its task or version, and sends that trace to the webhook URL. */
const makeTraceAttempt = ({ sql, tracing }: DeliveryDependencies) => {
  const findTrace = makeBatch(async (subjects: readonly string[]) => {
    const found = await listTraces(sql, subjects)
    const traces = new Map(found.map(({ subject, traceparent }) => [subject, traceparent]))
    return subjects.map((subject) => traces.get(subject))
  })
  return async (
    { eventId }: { eventId: string },
    { taskId, endpoint, number }: BegunAttempt,
    send: Send,
  ): Promise<Posted> => {
    const parent = tracing && (await findTrace(endpoint?.subjectId ?? taskId))
    if (!tracing || parent === undefined) return await send({})
    const attributes = { 'event.id': eventId, 'attempt.number': number }
    return await tracing.span('send the webhook', { kind: 'client', parent, attributes }, () =>
      send({ traceparent: tracing.current() ?? parent }),
    )
  }
}
