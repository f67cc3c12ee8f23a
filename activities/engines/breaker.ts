import {
  countEngineFailure,
  countEngineSuccess,
  type BreakerFailure,
} from '../../src/tasks/db/breaker.ts'
import { RULES } from '../../src/platform/db/change-notification.ts'
import type { CommonDependencies } from '../platform/dependencies.ts'

/** An attempt that is given up because the task may not go on now: it is put back, and counts as no failure. */
export class PutBackError extends Error {
  override name = 'PutBackError'
  /** `breaker:` with its scope, or `template:` with a file, or a template that is full. */
  readonly waitsOn: string

  constructor(waitsOn: string) {
    super(waitsOn)
    this.waitsOn = waitsOn
  }
}

/** Counts how an engine does. A failure that cannot be counted changes nothing. */
export interface Breaker {
  /** Throws a PutBackError while the breaker is open. */
  fail(scope: string, taskId: string): Promise<void>
  /** `onlyOpen`: it responds, which closes a breaker and says nothing of its renders. */
  succeed(scope: string, options?: { onlyOpen: boolean }): Promise<void>
}

/** Least time between two successes that are written down while nothing here fails. */
const QUIET_MS = 1000

/** Makes the breaker of the engines that a worker calls; without `max` failures in a row it never opens. */
export const makeBreaker = (
  { sql, log, notifyChange }: Pick<CommonDependencies, 'sql' | 'log' | 'notifyChange'>,
  { max, openSeconds }: Pick<BreakerFailure, 'max' | 'openSeconds'>,
): Breaker => {
  const succeededAt = new Map<string, number>()
  const giveUp = (error: unknown): undefined => {
    log.warn({ err: error }, 'the end of a request to an engine was not counted')
  }
  return {
    async fail(scope, taskId) {
      succeededAt.delete(scope)
      if (max === 0) return
      const counted = await countEngineFailure(sql, { scope, taskId, max, openSeconds }).catch(
        giveUp,
      )
      if (counted?.hasOpened) {
        log.error({ scope, failures: max }, 'an engine fails: its tasks wait until it works again')
        notifyChange(RULES)
      }
      if (counted?.isOpen) throw new PutBackError(`breaker:${scope}`)
    },
    async succeed(scope, { onlyOpen } = { onlyOpen: false }) {
      if (performance.now() - (succeededAt.get(scope) ?? -Infinity) < QUIET_MS) return
      const hasClosed = await countEngineSuccess(sql, { scope, onlyOpen }).catch(giveUp)
      if (!onlyOpen) succeededAt.set(scope, performance.now())
      if (!hasClosed) return
      log.info({ scope }, 'an engine works again')
      notifyChange(RULES)
    },
  }
}
