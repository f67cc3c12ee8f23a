import type { WorkerTuner } from '@temporalio/worker'

import { makeNotifier } from '../../platform/domain/notifier.ts'

/** A worker of activities has none of these, and fewer are not allowed. */
const ONE_SLOT = { type: 'fixed-size', numSlots: 1 } as const
/** Time in which another number of slots is seen. */
const PACE_MS = 1000

/** Makes the slots of a worker of activities alone, whose number may change. */
export const makeActivityTuner = (count: () => number): WorkerTuner => {
  const released = makeNotifier()
  let taken = 0
  const take = () => (taken < count() ? { number: (taken += 1) } : null)
  return {
    workflowTaskSlotSupplier: ONE_SLOT,
    localActivityTaskSlotSupplier: ONE_SLOT,
    nexusTaskSlotSupplier: ONE_SLOT,
    activityTaskSlotSupplier: {
      type: 'custom',
      async reserveSlot(_context, signal) {
        for (;;) {
          signal.throwIfAborted()
          const slot = take()
          if (slot) return slot
          await released.wait(PACE_MS, signal)
        }
      },
      tryReserveSlot: take,
      markSlotUsed() {},
      releaseSlot() {
        taken -= 1
        released.notify()
      },
    },
  }
}
