import type { Posted } from '../src/adapters/outbound/post.ts'
import { signWebhook } from '../src/adapters/webhook.ts'
import { beginAttempt, completeAttempt, findReceiver } from '../src/db/event/attempt.ts'
import type {
  AttemptResult,
  BegunAttempt,
  Target,
  AttemptVerdict,
} from '../src/db/event/attempt.ts'
import { unitOfWork } from '../src/db/unit-of-work.ts'
import { findStatusClass, parseRetryAfter } from '../src/domain/event/delivery-schedule.ts'
import type { AttemptErrorClass } from '../src/domain/event/event.ts'
import { failpoint } from '../src/process/failpoint.ts'
import type { DeliveryDependencies } from './dependencies.ts'
import { PER_HOST } from '../src/adapters/outbound/host-slots.ts'
import { makeEventBody } from './event-body.ts'
import { failedVerdict } from './attempt-verdict.ts'

/**
 * Makes one attempt: writes it down, signs and sends it, and records what it means for the event. Answers 0. When the
 * receiver's host already has as many attempts as it may, nothing is done, and the answer is the seconds to wait.
 */
export const sendAttempt = async (
  deps: DeliveryDependencies,
  target: Target,
  signal: AbortSignal,
): Promise<number> => {
  const url = await findReceiver(deps.sql, target.eventId)
  const host = hostOf(url)
  const release = deps.hostSlots.tryTake(host)
  if (!release) return putOff(deps, deps.hostSlots.turnedAway(host))
  try {
    const begun = await unitOfWork(deps, (sql) => beginAttempt(sql, target))
    if (begun) await attempt(deps, { target, begun, signal })
    return 0
  } finally {
    release()
  }
}

/** Attempts that were put off come back in groups as large as a host may have at once, and within a minute. */
const putOff = ({ delivery }: DeliveryDependencies, turnedAway: number): number =>
  delivery.putOffSeconds * Math.min(12, Math.ceil(turnedAway / PER_HOST))

const hostOf = (url: string | undefined): string =>
  url !== undefined && URL.canParse(url) ? new URL(url).host : ''

interface Begun {
  target: Target
  begun: BegunAttempt
  signal: AbortSignal
}

const attempt = async (
  deps: DeliveryDependencies,
  { target, begun, signal }: Begun,
): Promise<void> => {
  const body = Buffer.from(JSON.stringify(await makeEventBody(deps, begun)))
  const timestamp = Math.floor(deps.now().getTime() / 1000)
  const secrets = await deps.webhookSecrets.active(begun.owner)
  const posted = await deps.outbound.post({
    url: begun.url,
    headers: {
      ...signWebhook({ id: target.eventId, timestamp, body, secrets }),
      'webhook-sequence': String(begun.sequence),
    },
    body,
    limits: deps.delivery.limits,
    signal,
  })
  failpoint('deliver.after-answer')
  const { number } = begun
  const outcome = judge(deps, begun, posted)
  await unitOfWork(deps, (sql) => completeAttempt(sql, { ...target, number }, outcome))
  failpoint('deliver.after-record')
  log(deps, target, begun, outcome.result, posted)
}

const judge = (
  deps: DeliveryDependencies,
  { failures }: BegunAttempt,
  posted: Posted,
): { result: AttemptResult; verdict: AttemptVerdict } => {
  const { address, durationMs, status } = posted
  const errorClass = posted.errorClass ?? findStatusClass(posted.status)
  const answer = posted.errorClass === undefined ? posted.excerpt : undefined
  const result = { address, durationMs, status, errorClass, answer }
  return { result, verdict: toVerdict(deps, failures + 1, { posted, errorClass }) }
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
  { eventId }: Target,
  { taskId, number }: BegunAttempt,
  { errorClass, status }: AttemptResult,
  posted: Posted,
): void => {
  if (errorClass === undefined) return
  const cause = posted.errorClass === undefined ? undefined : posted.cause
  const facts = { task_id: taskId, event_id: eventId, number, class: errorClass, status }
  log.info({ ...facts, err: cause }, 'attempt did not deliver')
}
