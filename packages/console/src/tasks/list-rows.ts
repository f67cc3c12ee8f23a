import type { InfiniteData } from '@tanstack/react-query'

import { KINDS } from '../try/kinds.ts'
import type { TaskItem, TaskPage } from './types.ts'

export const TASK_KINDS = KINDS.map(({ id }) => id)
export const TASK_STATES = ['waiting', 'queued', 'running', 'done', 'failed', 'cancelled']

/** As the address of the page has it. */
export interface TaskFilter {
  kind?: string
  state?: string
  from?: string
  to?: string
  q?: string
  /** `key:value`. */
  label?: string
  /** An owner, or `*` for all, for platform admins alone. Absent: one's own. */
  owner?: string
}

type TaskPages = InfiniteData<TaskPage>

const DAY = /^\d{4}-\d\d-\d\d$/

/** A day begins at midnight where the page is seen; the last one counts whole. */
export const timeOf = (text: string, daysLater: number): string => {
  const isDay = DAY.test(text)
  const time = new Date(isDay ? `${text}T00:00:00` : text)
  if (isDay) time.setDate(time.getDate() + daysLater)
  return time.toISOString()
}

/** Pages with what has changed of their tasks: a row of a higher `rev` takes the place of the old one. */
export const patchPages = (pages: TaskPages, changed: readonly TaskItem[]): TaskPages => {
  const changes = new Map(changed.map((task) => [task.task_id, task]))
  const patch = (old: TaskItem): TaskItem => {
    const task = changes.get(old.task_id)
    if (!task || task.rev < old.rev) return old
    // What a stream does not say: whose it is. A member that is gone is gone.
    const { owner } = old
    const progress = Math.max(old.progress, task.progress)
    return { ...task, ...(owner !== undefined && { owner }), progress }
  }
  const patchPage = (page: TaskPage): TaskPage => ({ ...page, tasks: page.tasks.map(patch) })
  return { ...pages, pages: pages.pages.map(patchPage) }
}

/** Ids of those that would stand above the first row, had they been there when the list was read. */
export const findNew = (
  { pages, pageParams: [first] }: TaskPages,
  filter: TaskFilter,
  changed: readonly TaskItem[],
): string[] => {
  // Far down the newest rows are not kept, and nobody waits for them.
  if (first !== '') return []
  const rows = pages[0]?.tasks ?? []
  const shown = new Set(rows.map(({ task_id: id }) => id))
  const newest = rows[0]?.created_at ?? ''
  return changed
    .filter((task) => task.created_at >= newest && !shown.has(task.task_id) && passes(filter, task))
    .map(({ task_id: id }) => id)
}

/** The label of a filter; undefined while it is still being written. */
export const labelIn = (text = ''): [key: string, value: string] | undefined => {
  const at = text.indexOf(':')
  return at < 1 ? undefined : [text.slice(0, at), text.slice(at + 1)]
}

const passes = ({ kind, state, q, label, to }: TaskFilter, task: TaskItem): boolean =>
  isLabelled(task, labelIn(label)) &&
  (kind ?? task.kind).split(',').includes(task.kind) &&
  (state ?? task.state).split(',').includes(task.state) &&
  (task.prompt ?? '').toLowerCase().includes((q ?? '').toLowerCase()) &&
  task.created_at < (to === undefined ? '9' : timeOf(to, 1))

const isLabelled = ({ labels }: TaskItem, [key, value] = ['', '']): boolean =>
  key === '' || labels?.[key] === value
