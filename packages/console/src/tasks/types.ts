import type { BatchLine, OperationLine } from '../../../client/src/index.ts'
import type { Data } from '../api/schema.ts'

export type TaskPage = Data<'/tasks'>
/** A task as lists and streams show it. */
export type TaskItem = TaskPage['tasks'][number]
/** A task with all that is known of its life. */
export type TaskDetail = Data<'/tasks/{task_id}'>
export type TaskEvent = Data<'/tasks/{task_id}/events'>['events'][number]
/** A line of the results of a batch or an operation. */
export type BulkLine = BatchLine & Partial<Omit<OperationLine, keyof BatchLine>>
