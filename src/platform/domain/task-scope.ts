export type TaskFamily = 'image' | 'video'

/** Tasks that a caller may reach. Every list of tasks takes one, so that none forgets it. */
export interface TaskScope {
  /** Absent: tasks of all owners, for a platform admin. */
  owner?: string | undefined
  /** Undefined: both. */
  families: readonly TaskFamily[] | undefined
}
export type OwnTasks = TaskScope & { owner: string }
