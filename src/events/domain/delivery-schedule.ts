import type { AttemptErrorClass } from './event.ts'

/** When the attempts of an event are made. It is data, so that tests can shorten it to milliseconds. */
export interface DeliverySchedule {
  /** Seconds before each attempt, counted from the failure of the one before it; as many attempts as entries. */
  steps: readonly number[]
  /** Most that a step may be off, as a share of it: 0.2 is ±20 %. */
  jitter: number
  /** Least seconds before an overloaded host is called again. */
  busySeconds: number
  /** Most seconds that Retry-After may ask for, where twice the step is less. */
  retryAfterSeconds: number
  /** An endpoint at which nothing has arrived for so many seconds is switched off with the next event that is given up. */
  disableSeconds: number
}

/**
 * 12 attempts within 75.6 hours. Four come in the first 80 seconds, in which a server restarts (docs/decisions.md,
 * Webhooks).
 */
export const DELIVERY_SCHEDULE: DeliverySchedule = {
  steps: [0, 5, 15, 60, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400],
  jitter: 0.2,
  busySeconds: 60,
  retryAfterSeconds: 3_600,
  disableSeconds: 604_800,
}

/** Failure of the last attempt of an event. */
export interface FailedAttempt {
  errorClass: AttemptErrorClass
  /** HTTP status of the response, when one came. */
  status?: number | undefined
  /** Seconds from the failure on that the response asked for, see `parseRetryAfter`. */
  retryAfterSeconds?: number | undefined
}

export interface NextWait {
  /** Attempts that failed so far, 1 at least. */
  failures: number
  failed: FailedAttempt
  /** From 0 up to 1, drawn by the caller. */
  random: number
  schedule?: DeliverySchedule
}

/**
 * Computes the wait after a failure, in seconds to the millisecond; undefined when the schedule is over. Jitter never
 * makes the wait shorter than the rest of a busy host, or than a Retry-After within its limit, which is the part of it
 * that was asked for.
 */
export const nextWait = (wait: NextWait): { seconds: number; askedSeconds: number } | undefined => {
  const { failures, failed, random, schedule = DELIVERY_SCHEDULE } = wait
  const planned = schedule.steps[failures]
  if (planned === undefined) return undefined
  const least = isBusy(failed) ? schedule.busySeconds : 0
  const step = Math.max(planned, least)
  const earliest = Math.max(step * (1 - schedule.jitter), least)
  const drawn = earliest + random * (step * (1 + schedule.jitter) - earliest)
  const max = Math.max(2 * step, schedule.retryAfterSeconds)
  const asked = Math.min(failed.retryAfterSeconds ?? 0, max)
  return { seconds: toMillisecond(Math.max(drawn, asked)), askedSeconds: toMillisecond(asked) }
}

const toMillisecond = (seconds: number): number => Math.round(seconds * 1_000) / 1_000

const BUSY_STATUSES: readonly (number | undefined)[] = [429, 502, 504]

const isBusy = ({ errorClass, status }: FailedAttempt): boolean =>
  errorClass === 'timeout' || BUSY_STATUSES.includes(status)

/** Finds the error class of a response by its status; undefined for 2xx, which delivers. */
export const findStatusClass = (status: number): AttemptErrorClass | undefined => {
  if (status >= 200 && status <= 299) return undefined
  if (status === 410) return 'gone'
  return STATUS_CLASSES[Math.floor(status / 100)] ?? 'unknown'
}

const STATUS_CLASSES: Partial<Record<number, AttemptErrorClass>> = {
  3: 'status_3xx',
  4: 'status_4xx',
  5: 'status_5xx',
}
