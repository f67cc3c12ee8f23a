import { setMaxListeners } from 'node:events'
import { OutboundError } from './error.ts'

export interface DeadlineOptions {
  /** For everything together, in milliseconds. */
  timeoutMs: number
  /** Part of it, and of the first stage, that is over already. */
  spentMs?: number | undefined
  /** Each ends the work, which then fails with the reason of the signal. */
  signals: readonly AbortSignal[]
  /** Thing that is waited for, for the message: `no connection within 5 seconds`. */
  what: string
}

/** The clock of a whole work and of one stage of it at a time. */
export interface Deadline {
  /** Aborted when the time is over (reason: OutboundError `timeout`) or one of `signals` was. */
  signal: AbortSignal
  /** Ends the stage before, and begins one, with a time of its own if any is given. */
  enter: (what: string, ms: number | undefined, spentMs?: number) => void
  /** Names what the stage waits for from now on. */
  rename: (what: string) => void
  stop: () => void
}

export const startDeadline = (options: DeadlineOptions): Deadline => {
  const { timeoutMs, spentMs, signals } = options
  const controller = new AbortController()
  // A socket for each redirect listens, and its request.
  setMaxListeners(0, controller.signal)
  let awaited = ''
  const limit = (ms: number, spent = 0, what?: string) =>
    setTimeout(() => {
      const message = `no ${what ?? awaited} within ${ms / 1_000} seconds`
      controller.abort(new OutboundError('timeout', message))
    }, ms - spent)
  const whole = limit(timeoutMs, spentMs, options.what)
  let stage: NodeJS.Timeout | undefined
  const removals = signals.map((signal) => forwardAbort(signal, controller))
  return {
    signal: controller.signal,
    enter(what, ms, spent) {
      clearTimeout(stage)
      awaited = what
      stage = ms === undefined ? undefined : limit(ms, spent)
    },
    rename(what) {
      awaited = what
    },
    stop() {
      clearTimeout(whole)
      clearTimeout(stage)
      for (const remove of removals) remove()
    },
  }
}

/** AbortSignal.any would keep the signal of each work for as long as a signal that outlives it. */
const forwardAbort = (from: AbortSignal, to: AbortController) => {
  const forward = () => to.abort(from.reason)
  if (from.aborted) forward()
  from.addEventListener('abort', forward)
  return () => from.removeEventListener('abort', forward)
}
