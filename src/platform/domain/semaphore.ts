import { errors } from './errors.ts'

/** Lets a few pieces of work of one process run at once; the others wait for their turn. */
export interface Semaphore {
  /**
   * Does the work when there is room for it. Parties take turns, so that many pieces of one hold up another's by one.
   *
   * @param patience how long it waits, in milliseconds
   * @param party whose work it is, such as an address
   * @throws 503 `busy` when it has waited for so long, or as many of the party wait as may
   */
  run<Result>(work: () => Promise<Result>, patience?: number, party?: string): Promise<Result>
}

/** With 64 callers on a machine that is busy otherwise, the last waits for 1.5 s. */
const PATIENCE_MS = 4_000

export const makeSemaphore = (atOnce: number, maxOfParty = Infinity): Semaphore => {
  let running = 0
  /** Parties with waiting work, in the order of their turns. */
  const waiting = new Map<string, Set<() => void>>()
  const enter = async (patience: number, party: string): Promise<void> => {
    if (running < atOnce) {
      running += 1
      return
    }
    const own = waiting.get(party) ?? new Set()
    if (own.size >= maxOfParty) throw errors.busy()
    waiting.set(party, own)
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        own.delete(admit)
        if (own.size === 0) waiting.delete(party)
        reject(errors.busy())
      }, patience)
      const admit = (): void => {
        clearTimeout(timer)
        resolve()
      }
      own.add(admit)
    })
  }
  /** Gives the place to whoever waits longest of the party whose turn it is. */
  const leave = (): void => {
    const [[party, own] = ['', new Set<() => void>()]] = waiting
    const [next] = own
    if (!next) {
      running -= 1
      return
    }
    own.delete(next)
    waiting.delete(party)
    if (own.size > 0) waiting.set(party, own)
    next()
  }
  return {
    run: async (work, patience = PATIENCE_MS, party = '') => {
      await enter(patience, party)
      try {
        return await work()
      } finally {
        leave()
      }
    },
  }
}
