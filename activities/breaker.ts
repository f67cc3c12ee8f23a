import {
  countEngineFailure,
  countEngineSuccess,
  type BreakerFailure,
} from '../src/db/task/breaker.ts'
import { RULES } from '../src/db/shared/change-notification.ts'
import type { CommonDependencies } from './dependencies.ts'

/** An attempt that is given up because its engine fails: it counts as none, and the task waits until the engine works. */
export class HeldError extends Error {
  override name = 'HeldError'
}

/** Counts how an engine does. A failure that cannot be counted changes nothing. */
export interface Breaker {
  /** Throws a HeldError while the breaker is open. */
  fail(scope: string, taskId: string): Promise<void>
  /** `onlyOpen`: it responds, which closes a breaker and says nothing of its renders. */
  succeed(scope: string, options?: { onlyOpen: boolean }): Promise<void>
}

/** Least time between two successes that are written down while nothing here fails. */
const QUIET_MS = 1000

/** Makes the breaker of the engines that a worker calls; without `most` failures in a row it never opens. */
export const makeBreaker = (
  { sql, log, notifyChange }: Pick<CommonDependencies, 'sql' | 'log' | 'notifyChange'>,
  { most, openSeconds }: Pick<BreakerFailure, 'most' | 'openSeconds'>,
): Breaker => {
  const succeededAt = new Map<string, number>()
  const giveUp = (error: unknown): undefined => {
    log.warn({ err: error }, 'the end of a request to an engine was not counted')
  }
  return {
    async fail(scope, taskId) {
      succeededAt.delete(scope)
      if (most === 0) return
      const counted = await countEngineFailure(sql, { scope, taskId, most, openSeconds }).catch(
        giveUp,
      )
      if (counted?.hasOpened) {
        log.error({ scope, failures: most }, 'an engine fails: its tasks wait until it works again')
        notifyChange?.(RULES)
      }
      if (counted?.isOpen) throw new HeldError('the engine does not work')
    },
    async succeed(scope, { onlyOpen } = { onlyOpen: false }) {
      if (performance.now() - (succeededAt.get(scope) ?? -Infinity) < QUIET_MS) return
      const hasClosed = await countEngineSuccess(sql, { scope, onlyOpen }).catch(giveUp)
      if (!onlyOpen) succeededAt.set(scope, performance.now())
      if (!hasClosed) return
      log.info({ scope }, 'an engine works again')
      notifyChange?.(RULES)
    },
  }
}

/** Tasks of a worker that ask in a second: they are many after an outage. */
const PER_SECOND = 30

/** Makes the waits of held tasks until they ask again, in milliseconds. */
export const makeHeldWait = ({ leastMs, now = () => performance.now() }: HeldWaitOptions) => {
  let last = 0
  return (): number => {
    last = Math.max(last + 1000 / PER_SECOND, now() + leastMs)
    return Math.round(last - now())
  }
}

interface HeldWaitOptions {
  leastMs: number
  now?: () => number
}
