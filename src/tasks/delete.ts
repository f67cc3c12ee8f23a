import type { Transaction } from '../platform/db/client.ts'
import { insertAudit } from '../platform/db/audit-log.ts'
import type { OutboxSignal } from '../platform/db/outbox.ts'
import type { PurgedStorage } from './db/purge.ts'
import { lockTask, purgeDeleted, requestDeletion, type OwnTask } from './db/task-deletion.ts'
import { unitOfWork } from '../platform/db/unit-of-work.ts'
import { auditTarget } from '../platform/domain/audit-log.ts'
import { errors } from '../platform/domain/errors.ts'
import { FAMILIES } from './domain/family.ts'
import type { EndDeps, Recorded } from './cancel.ts'
import { failTask } from './fail.ts'

export interface DeletionDeps extends EndDeps {
  storage: PurgedStorage
  /** Stops what is due of the events of a task; returns the signals that end their deliveries. */
  stopEvents(sql: Transaction, taskId: string): Promise<OutboxSignal[]>
}

interface DeletionOptions extends Partial<Recorded<void>> {
  /** `ended`: a video that can no longer be cancelled is deleted at its end. */
  when?: 'now' | 'ended' | undefined
}

/**
 * Deletes a task: cancels it if it has not ended, notifies its webhook URL no more, and removes inputs, results,
 * thumbnails and payload. The row stays, without content. True when it has ended, so that its files are gone. Throws 404,
 * or 400 when a video can no longer be cancelled.
 */
export const deleteTask = async (
  deps: DeletionDeps,
  task: OwnTask,
  { when, audit, record }: DeletionOptions,
): Promise<boolean> => {
  const { id } = task
  const hasEnded = await unitOfWork(
    deps,
    async (sql, enqueue) => {
      const locked = await lockTask(sql, task)
      if (!locked) throw errors.taskNotFound(id)
      const { family, status, hasWebhook } = locked
      const end = { ...deps, code: 'cancelled', enqueue }
      const hasEnded = locked.hasEnded || (await failTask(sql, { id, family }, end))
      if (!hasEnded && when !== 'ended')
        throw FAMILIES[family].cannotCancel(status, {
          advice: '; with ?when=ended it is deleted at its end',
        })
      await record?.(sql)
      if (!(await requestDeletion(sql, id))) return hasEnded
      const target = auditTarget.task(id)
      if (audit)
        await insertAudit(sql, audit, { action: 'task.delete', target, before: { status } })
      if (!hasWebhook) return hasEnded
      for (const signal of await deps.stopEvents(sql, id)) await enqueue(signal)
      return hasEnded
    },
    { of: id },
  )
  // When it cannot be done now, the hourly purge does it. The links have ended already.
  if (hasEnded) await purgeDeleted(deps, id).catch(() => {})
  return hasEnded
}
