import { setMaxListeners } from 'node:events'

import { findParent, findProcess, isRunning } from './process-table.ts'

export interface Interrupt {
  /** Aborted by the first Ctrl-C, SIGTERM or the end of the terminal. */
  stop: AbortSignal
  /** Aborted by a second one. */
  force: AbortSignal
}

/** npm passes a Ctrl-C on that the terminal has sent already; so much later it is a second one by a person. */
const TWICE_MS = 1000

/** Turns signals into one wish to stop and, when they are repeated, one to stop at once. */
export const listenForInterrupt = (announce: () => void): Interrupt => {
  const stop = new AbortController()
  const force = new AbortController()
  // All that waits listens.
  setMaxListeners(0, stop.signal, force.signal)
  let firstAt = 0
  const onSignal = (): void => {
    if (!stop.signal.aborted) {
      firstAt = Date.now()
      announce()
      stop.abort(new Error('interrupted'))
    } else if (Date.now() - firstAt > TWICE_MS) force.abort(new Error('interrupted'))
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, onSignal)
  watchNpm(() => {
    if (!stop.signal.aborted) onSignal()
  })
  return { stop: stop.signal, force: force.signal }
}

const WATCH_MS = 500

/**
 * Calls `gone` once npm, or the shell that it starts scripts in, has ended before us: a SIGTERM to npm ends both of them
 * and reaches nobody else. Nothing for a process that npm did not start, which may outlive who did.
 */
const watchNpm = (gone: () => void): void => {
  if (process.env['npm_lifecycle_event'] === undefined) return
  const parents = [findProcess(process.ppid), findParent(process.ppid)].filter(
    (parent) => parent !== undefined,
  )
  const watch = setInterval(() => {
    if (parents.every(isRunning)) return
    clearInterval(watch)
    gone()
  }, WATCH_MS)
  watch.unref()
}
