import { networkOf } from '../src/adapters/network-of.ts'
import type { Located } from '../src/adapters/outbound/locate.ts'
import type { Posted } from '../src/adapters/outbound/post.ts'
import type { Wanted } from '../src/adapters/outbound/attempt-slots.ts'
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
import { makeEventBody } from './event-body.ts'
import { failedVerdict } from './attempt-verdict.ts'

/**
 * Makes one attempt: writes it down, signs and sends it, and records what it means for the event. Answers 0. When there
 * are as many at once as may be of its host, address or owner, nothing is done, and the answer is the seconds to wait.
 */
export const sendAttempt = async (
  deps: DeliveryDependencies,
  target: Target,
  signal: AbortSignal,
): Promise<number> => {
  const receiver = await findReceiver(deps.sql, target.eventId)
  if (!receiver) return 0
  const { url, owner, account } = receiver
  const ofReceiver: Wanted[] = [
    ['host', hostOf(url)],
    ['owner', owner],
    ['account', account],
  ]
  const ofLookUp: Wanted[] = [
    ['lookUps', ''],
    ['lookUpsOfAccount', account],
  ]
  const sent = await holding(deps, ofReceiver, async () => {
    const located = await holding(deps, ofLookUp, () =>
      deps.outbound.locate({ url, signal, timeoutMs: deps.delivery.limits?.connectMs }),
    )
    if ('putOffSeconds' in located) return located
    // The first alone, which is dialled first: a name may list addresses of others, to take their slots.
    const ofAddress = located.addresses
      .slice(0, 1)
      .map((address): Wanted => ['address', networkOf(address)])
    return await holding(deps, ofAddress, async () => {
      const begun = await unitOfWork(deps, (sql) => beginAttempt(sql, target))
      if (begun) await attempt(deps, { target, begun, located, signal })
      return { putOffSeconds: 0 }
    })
  })
  return sent.putOffSeconds
}

interface PutOff {
  putOffSeconds: number
}

/** Works while it holds slots. Without them it does nothing: they come back in groups, and within a minute. */
const holding = async <T>(
  { attemptSlots, delivery }: DeliveryDependencies,
  wanted: readonly Wanted[],
  work: () => Promise<T>,
): Promise<T | PutOff> => {
  const { release, groups } = attemptSlots.tryTake(wanted)
  if (!release) return { putOffSeconds: delivery.putOffSeconds * Math.min(12, groups) }
  try {
    return await work()
  } finally {
    release()
  }
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : '')

interface Begun {
  target: Target
  begun: BegunAttempt
  located: Located
  signal: AbortSignal
}

const attempt = async (
  deps: DeliveryDependencies,
  { target, begun, located, signal }: Begun,
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
    located,
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
