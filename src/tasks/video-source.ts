import { withinDeadline } from '../platform/db/client.ts'
import type { NewTaskInput } from './db/task-file.ts'
import { findVideoSource, type VideoSource } from './db/video/video-task.ts'
import { errors } from '../platform/domain/errors.ts'
import { FAMILIES } from './domain/family.ts'
import { isUuid } from '../platform/domain/uuid.ts'
import { makeIssue, type Issue } from '../platform/domain/validate.ts'
import type { ExtendBody } from './domain/video/video-body.ts'
import { validationError } from '../platform/domain/validation-error.ts'
import { NO_INPUT } from './inputs.ts'
import type { TaskReadDeps } from './deps.ts'

const FIELD = 'video_creation_id'
const DONE = FAMILIES.video.words.done

/**
 * The stored video that a request's `video_creation_id` names, a task or a creation; undefined when its `video_url` is to
 * be fetched instead, because the id names no finished video that the caller may read. With nothing to fetch that is 404,
 * or 400 when the video exists and cannot be used.
 */
export const findSourceVideo = async (
  { sql }: Pick<TaskReadDeps, 'sql'>,
  owner: string,
  { video_creation_id: id, video_url: url }: ExtendBody,
): Promise<NewTaskInput | undefined> => {
  if (id === undefined) return undefined
  const found = isUuid(id)
    ? await withinDeadline(sql, findVideoSource(sql, { id, owner }))
    : undefined
  if (found?.state === DONE && found.storageKey !== null)
    return { ...NO_INPUT, field: FIELD, storageKey: found.storageKey }
  if (url !== undefined) return undefined
  if (!found) throw errors.taskNotFound(id)
  throw validationError([unusable(found)], { query: {}, body: { [FIELD]: id } })
}

const unusable = ({ state }: VideoSource): Issue =>
  makeIssue(
    `/${FIELD}`,
    state === DONE
      ? 'must name a video that is still stored, got one that was removed by age'
      : `must name a task in ${DONE}, got one in ${state}`,
  )
