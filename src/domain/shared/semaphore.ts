import { errors } from './errors.ts'

/** Lets a few pieces of work of one process run at once; the others wait for their turn. */
export interface Semaphore {
  /**
   * Does the work when there is room for it.
   *
   * @param patience how long it waits, in milliseconds
   * @throws 503 `busy` when it has waited for so long
   */
  run<Result>(work: () => Promise<Result>, patience?: number): Promise<Result>
}

/** With 64 callers on a machine that is busy otherwise, the last waits for 1.5 s. */
const PATIENCE_MS = 4_000

export const makeSemaphore = (atOnce: number): Semaphore => {
  let running = 0
  const waiting = new Set<() => void>()
  const enter = async (patience: number): Promise<void> => {
    if (running < atOnce) {
      running += 1
      return
    }
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(admit)
        reject(errors.busy())
      }, patience)
      const admit = (): void => {
        clearTimeout(timer)
        resolve()
      }
      waiting.add(admit)
    })
  }
  /** Gives the place to whoever waits longest. */
  const leave = (): void => {
    const [next] = waiting
    if (!next) {
      running -= 1
      return
    }
    waiting.delete(next)
    next()
  }
  return {
    run: async (work, patience = PATIENCE_MS) => {
      await enter(patience)
      try {
        return await work()
      } finally {
        leave()
      }
    },
  }
}
