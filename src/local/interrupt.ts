import type { Say } from './console.ts'

export interface Interrupt {
  /** Aborted by the first Ctrl-C, SIGTERM or the end of the terminal. */
  stop: AbortSignal
  /** Aborted by a second one. */
  force: AbortSignal
  /** Takes the default way of signals back. */
  release(): void
}

/** npm passes a Ctrl-C on that the terminal has sent already; so much later it is a second one by a person. */
const TWICE_MS = 1000

/** Turns signals into one wish to stop and, when they are repeated, one to stop at once. */
export const listenForInterrupt = (say: Say): Interrupt => {
  const stop = new AbortController()
  const force = new AbortController()
  let firstAt = 0
  const onSignal = (): void => {
    if (!stop.signal.aborted) {
      firstAt = Date.now()
      say('stopping; Ctrl-C again ends everything at once')
      stop.abort(new Error('interrupted'))
    } else if (Date.now() - firstAt > TWICE_MS) force.abort(new Error('interrupted'))
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, onSignal)
  return {
    stop: stop.signal,
    force: force.signal,
    release: () => {
      for (const signal of signals) process.off(signal, onSignal)
    },
  }
}
