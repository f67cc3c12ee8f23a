import type { paths } from '../../../client/index.ts'

type ReadOf<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Body } } } }
}
  ? Body
  : never

export type TaskPage = ReadOf<'/tasks'>
/** A task as lists and streams show it. */
export type TaskItem = TaskPage['tasks'][number]
/** A task with all that is known of its life. */
export type TaskDetail = ReadOf<'/tasks/{task_id}'>
export type TaskEvent = ReadOf<'/tasks/{task_id}/events'>['events'][number]
export type Attempt = ReadOf<'/tasks/{task_id}/events/{event_id}/attempts'>['attempts'][number]

/** The word that a badge shows: a cancelled task has the API's word of a failed one. */
export const wordOf = ({ state, status }: Pick<TaskItem, 'state' | 'status'>): string =>
  state === 'cancelled' ? state : status
