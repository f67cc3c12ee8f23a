import type { Signer } from '../../adapters/signing.ts'
import type { ImageTaskRow } from '../../db/image-task.ts'
import type { ImageTaskRecord } from '../../domain/image-task.ts'

/** A task as callers see it: each read signs the links anew. */
export const toRecord = (
  task: Pick<ImageTaskRow, 'id' | 'status' | 'error' | 'results'>,
  signer: Signer,
  now: Date,
): ImageTaskRecord => ({
  task_id: task.id,
  status: task.status,
  generated: task.results.map((name) => signer.signFile(task.id, name, now)),
  ...(task.error === null ? {} : { error: task.error }),
})
