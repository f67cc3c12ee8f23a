import type { EngineName } from '../domain/engine.ts'
import { FAMILIES } from '../domain/family.ts'
import type { TaskKind } from '../domain/task-item.ts'
import type { TaskOptions } from '../domain/task-options.ts'
import type { TaskFamily } from '../../platform/domain/task-scope.ts'
import type { Transaction } from '../../platform/db/client.ts'
import { setLimits, type AccountLimits } from './account.ts'
import { after, optionColumns, optionValues } from './options.ts'
import { insertTaskInputs, ownBytes, type NewTaskInput } from './task-file.ts'
import { insertEvent } from './task-transition.ts'

export interface NewTask {
  id: string
  family: TaskFamily
  kind: TaskKind
  segment: string
  /** Row of the template whose graph it keeps; absent of the service's own kinds. */
  templateId?: number | undefined
  owner: string
  /** Account that it counts for. */
  account: string
  /** API key that it is made with; one of a batch has that of the batch. The trigger `task_used` (0095) counts it for the key. */
  apiKeyId?: string | undefined
  /** Without the members that have columns of their own. */
  settings: object
  webhookUrl: string | null
  payload?: string | null
  credits?: number
  /** From the creation of an off-peak task until it fails. */
  offPeakSeconds?: number | undefined
  /** The local one when absent. */
  engine?: EngineName
  options?: TaskOptions
  inputs: readonly NewTaskInput[]
}

/**
 * Inserts a task with its inputs and its first event; returns when it was made. The trigger `task_admitted` (0065) admits it, or
 * says why it waits: a video for a slot at least, until `admitVideos` admits it. The commit charges it, and fails when that
 * passes a limit of its account, by the trigger `task_charged` (0064); `toLimitError` reads that failure.
 */
export const insertTask = async (
  sql: Transaction,
  task: NewTask,
  limits: AccountLimits,
): Promise<Date> => {
  const { id, family, payload = null, offPeakSeconds } = task
  const status = FAMILIES[family].words.created
  const bytes = ownBytes(task.inputs) + Buffer.byteLength(payload ?? '')
  const isOffPeak = offPeakSeconds !== undefined
  const { batchId = null } = task.options ?? {}
  // Sent together, in this order: none waits for the response to another.
  const [[row]] = await Promise.all([
    sql<{ createdAt: Date }[]>`
    insert into task (id, family, kind, segment, owner, status, settings, webhook_url, payload, credits,
      off_peak, off_peak_by, account, stored_bytes, engine, template_id, api_key_id, ${optionColumns(sql)})
    values (${id}, ${family}, ${task.kind}, ${task.segment}, ${task.owner}, ${status},
      ${sql.json(task.settings as never)}, ${task.webhookUrl}, ${payload}, ${task.credits ?? 0}, ${isOffPeak},
      ${after(sql, offPeakSeconds ?? null, { startAfter: task.options?.startAfter ?? null })}, ${task.account}, ${bytes},
      ${task.engine ?? 'local'}, ${task.templateId ?? null},
      coalesce(${task.apiKeyId ?? null}::uuid, (select api_key_id from bulk where id = ${batchId}::uuid)),
      ${optionValues(sql, task)})
    returning created_at as "createdAt"
  `.execute(),
    insertTaskInputs(sql, id, task.inputs),
    insertEvent(sql, { taskId: id, sequence: 1, status, deliver: false }),
    setLimits(sql, limits),
  ])
  if (!row) throw new Error('insert returned no row')
  return row.createdAt
}
