import { withinDeadline } from '../../../platform/db/client.ts'
import { findVideoTask, type VideoTaskRow } from '../../db/video/video-task.ts'
import { errors } from '../../../platform/domain/errors.ts'
import { VIDEO_TERMINAL_STATES } from '../../domain/video/video-task.ts'
import type { JsonResponse } from '../../../platform/http/route.ts'
import { respondToRead, UPSTREAM_POLL_SECONDS } from '../task/read-response.ts'
import type { TaskReadDeps } from '../../deps.ts'
import { toCreations } from './record.ts'

interface ReadRequest {
  id: string
  owner: string
  /** If-None-Match. */
  known: string | undefined
}

/** Returns a task that the owner may read, or 304 when the caller has it. Throws 404. */
export const readTask = async (
  { sql, signer, now }: TaskReadDeps,
  { id, owner, known }: ReadRequest,
): Promise<JsonResponse> => {
  const task = await withinDeadline(sql, findVideoTask(sql, { id, owner }))
  if (!task) throw errors.taskNotFound(id)
  const time = now()
  return respondToRead(signer, {
    rev: task.rev,
    credits: task.credits,
    pollAfter: pollAfter(task),
    known,
    now: time,
    body: () => toCreations(task, signer, time),
  })
}

/** An off-peak task may wait for hours. */
const OFF_PEAK_POLL_SECONDS = 30

const pollAfter = ({ state, offPeak, engine }: VideoTaskRow): number | undefined => {
  if (VIDEO_TERMINAL_STATES.includes(state)) return undefined
  if (engine === 'vendor') return offPeak ? OFF_PEAK_POLL_SECONDS : UPSTREAM_POLL_SECONDS
  if (state === 'processing') return 1
  return offPeak ? OFF_PEAK_POLL_SECONDS : 2
}
