import { errors } from '../../domain/shared/errors.ts'
import { isUuid } from '../../domain/shared/uuid.ts'

/** The id of a task from a path. One that is no UUID is the id of no task: 404. */
export const readTaskId = (text: string): string => {
  if (!isUuid(text)) throw errors.taskNotFound(text)
  return text.toLowerCase()
}
