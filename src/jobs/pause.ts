import { deleteEndedPauses, listWaitingOwners } from '../db/task/pause.ts'
import { RULES } from '../db/shared/change-notification.ts'
import { unitOfWork, type UnitDeps } from '../db/unit-of-work.ts'
import { admitOwner, type Slots } from '../db/video-task/video-queue.ts'

/**
 * Gives slots to the videos that pauses have kept waiting, once these have ended: by hand, or by the clock while no process
 * was awake. A pass that is cut off is repeated, because the pauses go last. Images, and videos with a slot, ask by themselves.
 */
export const wakeHeld = async (deps: UnitDeps & Slots, signal: AbortSignal): Promise<void> => {
  const { ended, owners } = await listWaitingOwners(deps.sql)
  if (ended.length === 0) return
  for (const owner of owners) {
    if (signal.aborted) return
    await unitOfWork(deps, (sql, enqueue) => admitOwner(sql, { ...deps, owner, enqueue }))
  }
  await deleteEndedPauses(deps.sql, ended)
  // First attempts at webhooks of paused hosts are due now.
  deps.notifyChange?.(RULES)
}
