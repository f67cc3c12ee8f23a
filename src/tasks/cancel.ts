import type { Transaction } from '../platform/db/client.ts'
import { insertAudit, type Audit } from '../platform/db/audit-log.ts'
import { isCancelled, lockTask } from './db/task-deletion.ts'
import type { OwnTask } from './db/task-deletion.ts'
import { unitOfWork, type UnitDeps } from '../platform/db/unit-of-work.ts'
import type { AdmissionRules } from './db/admission.ts'
import { auditTarget } from '../platform/domain/audit-log.ts'
import { errors } from '../platform/domain/errors.ts'
import { FAMILIES } from './domain/family.ts'
import { failTask } from './fail.ts'

/** Dependencies of commands that may end a task. */
export type EndDeps = UnitDeps & AdmissionRules

/** Records of a command, made in its transaction. */
export interface Recorded<T> {
  /** Absent: an operation, which is in the log itself. */
  audit?: Audit
  record(sql: Transaction): Promise<T>
}

/**
 * Cancels a task that has not ended; of a video, that no worker has taken. Throws 404, and 409 (400 of a video) when it
 * is too late.
 */
export const cancelTask = <T>(
  deps: EndDeps,
  task: OwnTask,
  { audit, record }: Recorded<T>,
): Promise<T> =>
  unitOfWork(
    deps,
    async (sql, enqueue) => {
      const locked = await lockTask(sql, task)
      if (!locked) throw errors.taskNotFound(task.id)
      const { family, status } = locked
      const end = { ...deps, code: 'cancelled', enqueue }
      if (!(await failTask(sql, { id: task.id, family }, end)))
        throw FAMILIES[family].cannotCancel(status, locked)
      const after = { status: FAMILIES[family].words.failed }
      const target = auditTarget.task(task.id)
      if (audit)
        await insertAudit(sql, audit, { action: 'task.cancel', target, before: { status }, after })
      return await record(sql)
    },
    { of: task.id, wasCommitted: () => isCancelled(deps.sql, task.id) },
  )
