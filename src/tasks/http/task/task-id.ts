import { Type } from 'typebox'

import { errors } from '../../../platform/domain/errors.ts'
import { isUuid } from '../../../platform/domain/uuid.ts'

/** Parameters of the paths of one task. */
export const OfTask = Type.Object({
  task_id: Type.String({ format: 'uuid', description: 'Id of the task.' }),
})

/** The id of a task from a path. One that is no UUID is the id of no task: 404. */
export const readTaskId = (text: string): string => {
  if (!isUuid(text)) throw errors.taskNotFound(text)
  return text.toLowerCase()
}
