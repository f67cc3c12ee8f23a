import { withinDeadline } from '../../../platform/db/client.ts'
import { findImageTask, type ImageTaskRow } from '../../db/image/image-task.ts'
import { errors } from '../../../platform/domain/errors.ts'
import {
  TERMINAL_STATUSES,
  type ImageTaskRecord,
  makeImageRecord,
  type ImageTaskFacts,
} from '../../domain/image/image-task.ts'
import type { AnyImageKind } from '../../domain/image/image-kind.ts'
import type { JsonResponse } from '../../../platform/http/route.ts'
import { UPSTREAM_POLL_SECONDS, respondToRead } from '../task/read-response.ts'
import type { TaskReadDeps } from '../../deps.ts'
import type { Signer } from '../../../platform/adapters/signing.ts'

interface ReadRequest {
  id: string
  owner: string
  /** Absent: any. */
  kinds?: readonly AnyImageKind[]
  /** If-None-Match. */
  known: string | undefined
}

/** Reads a task of the owner, or returns 304 when the caller has it. Throws 404. */
export const readTask = async (
  { sql, signer, now }: TaskReadDeps,
  { id, owner, kinds, known }: ReadRequest,
): Promise<JsonResponse> => {
  const task = await withinDeadline(sql, findImageTask(sql, { id, owner, kinds }))
  if (!task) throw errors.taskNotFound(id)
  const time = now()
  return respondToRead(signer, {
    rev: task.rev,
    credits: 0,
    pollAfter: pollAfter(task),
    known,
    now: time,
    body: () => ({ data: toRecord(task, signer, time) }),
  })
}

const pollAfter = ({ status, engine }: ImageTaskRow): number | undefined => {
  if (TERMINAL_STATUSES.includes(status)) return undefined
  if (engine === 'vendor') return UPSTREAM_POLL_SECONDS
  return status === 'IN_PROGRESS' ? 1 : 2
}

/** A task as callers see it: each read signs the links again. */
const toRecord = (task: ImageTaskFacts, signer: Signer, now: Date): ImageTaskRecord =>
  makeImageRecord(task, (name) => signer.signFile(task.id, name, now))
