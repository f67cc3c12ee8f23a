import type { TaskDetail } from '../tasks/types.ts'
import { onlyChanges } from './form.ts'
import type { Field } from './form.ts'
import type { Kind } from './kinds.ts'
import type { Body } from './schema.ts'

/** What a form begins with that is to go on from a task: the same again, or the next step from its result. */
export const startFrom = (kind: Kind, fields: readonly Field[], task: TaskDetail): Body => {
  if (task.request.path === kind.path) return onlyChanges(fields, task.request.body)
  const result = task.results[0]?.url
  const values = fields.map(({ name, isRequired, control }) => {
    if (control.is === 'files' && result !== undefined && takes(control.accept, task))
      return [name, control.isList ? [result] : result] as const
    if (name === 'video_creation_id') return [name, task.task_id] as const
    // What must be chosen is, so that the next step is one press away: the same model, if it can.
    if (!isRequired || control.is !== 'choice') return [name, undefined] as const
    const [same] = control.options.filter((option) => option === task.request.body[name])
    return [name, same ?? control.options[0]] as const
  })
  return onlyChanges(fields, Object.fromEntries(values))
}

const takes = (accept: string, { family }: TaskDetail): boolean => accept.startsWith(family)
