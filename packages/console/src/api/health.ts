import { makeStore } from './store.ts'

/** State of the service, as the page has seen it. */
export interface Health {
  /** When it was first not reached; undefined while it responds. */
  awaySince?: number
  /** When the page asks again. */
  nextAt?: number
}

const ASK_MS = 2000

export const health = makeStore<Health>({})

const isReachable = (): boolean => health.get().awaySince === undefined

/** Calls when the service is back after it was away. */
export const onBack = (listener: () => void): (() => void) =>
  health.subscribe(() => isReachable() && listener())

export const untilBack = (): Promise<void> => health.until(isReachable)

/** Asks whether the service responds; where it does not the page says so. */
export const isAway = async (): Promise<boolean> => {
  const reached = await isReady()
  recordReached(reached)
  return !reached
}

const isReady = async (): Promise<boolean> =>
  (await fetch('/ready').catch(() => undefined))?.ok === true

/** Records each response, or the lack of one. While the service is away the page asks whether it is ready. */
export const recordReached = (reached: boolean): void => {
  if (!reached && isReachable()) askAgain(Date.now())
}

const askAgain = (awaySince: number): void => {
  health.set({ awaySince, nextAt: Date.now() + ASK_MS })
  setTimeout(async () => ((await isReady()) ? health.set({}) : askAgain(awaySince)), ASK_MS)
}
