import type { Signer } from '../../adapters/signing.ts'
import { makeImageRecord } from '../../domain/image-task/image-record.ts'
import type { ImageTaskFacts } from '../../domain/image-task/image-record.ts'
import type { ImageTaskRecord } from '../../domain/image-task/image-task.ts'

/** A task as callers see it: each read signs the links anew. */
export const toRecord = (task: ImageTaskFacts, signer: Signer, now: Date): ImageTaskRecord =>
  makeImageRecord(task, (name) => signer.signFile(task.id, name, now))
