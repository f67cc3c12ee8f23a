import type { Signer } from '../../adapters/signing.ts'
import { withinDeadline } from '../../db/client.ts'
import { findImageTask } from '../../db/image-task.ts'
import { errors } from '../../domain/errors.ts'
import { TERMINAL_STATUSES } from '../../domain/image-task.ts'
import type { ImageTaskKind } from '../../domain/image-kind.ts'
import type { ImageTaskStatus } from '../../domain/image-task.ts'
import type { JsonAnswer } from '../route.ts'
import type { CreationDeps } from './create.ts'
import { toRecord } from './record.ts'

interface ReadRequest {
  id: string
  owner: string
  kinds: readonly ImageTaskKind[]
  /** If-None-Match. */
  known: string | undefined
}

/** Answers a task of the owner, or 304 when the caller has it. Throws 404. */
export const readTask = async (
  { sql, signer, now }: CreationDeps,
  { id, owner, kinds, known }: ReadRequest,
): Promise<JsonAnswer> => {
  const task = await withinDeadline(findImageTask(sql, { id, owner, kinds }))
  if (!task) throw errors.taskNotFound(id)
  const time = now()
  // Links are signed anew each hour, so an answer of the same row is another one then.
  const etag = `"${task.rev}-${signingHour(signer, time)}"`
  const headers = {
    'x-credits-used': '0',
    etag,
    'cache-control': 'private, no-cache',
    ...pollAfter(task.status),
  }
  if (matches(known, etag)) return { status: 304, headers }
  return { status: 200, headers, body: { data: toRecord(task, signer, time) } }
}

const signingHour = (signer: Signer, now: Date): number => signer.linkExpiry(now) / 3600

/** Seconds to the next useful read; a task that has ended does not change. */
const pollAfter = (status: ImageTaskStatus): Record<string, string> => {
  if (TERMINAL_STATUSES.includes(status)) return {}
  return { 'retry-after': status === 'IN_PROGRESS' ? '1' : '2' }
}

const matches = (header: string | undefined, etag: string): boolean =>
  header !== undefined &&
  header.split(',').some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim()))
