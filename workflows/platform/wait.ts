import { condition, setHandler } from '@temporalio/workflow'
import type { SignalDefinition, TimerOptions } from '@temporalio/workflow'

/** Wait for a change of rows, which signals end. What has changed the rows say. */
export interface ChangeWait {
  /** Starts to watch, before the rows are read: a signal from here on ends the next wait. */
  watch(): void
  /** Ends with the next signal (true), or after so many milliseconds where there are some (false). */
  wait(milliseconds?: number, options?: TimerOptions): Promise<boolean>
}

type Signal = SignalDefinition | SignalDefinition<[{ id: string }]>

export const makeChangeWait = (...signals: readonly Signal[]): ChangeWait => {
  let hasChanged = false
  for (const signal of signals)
    setHandler(signal, () => {
      hasChanged = true
    })
  return {
    watch() {
      hasChanged = false
    },
    async wait(milliseconds, options = {}) {
      if (milliseconds !== undefined)
        return await condition(() => hasChanged, milliseconds, options)
      await condition(() => hasChanged)
      return true
    },
  }
}
