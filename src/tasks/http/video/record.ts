import type { Signer } from '../../../platform/adapters/signing.ts'
import type { VideoTaskRow } from '../../db/video/video-task.ts'
import { makeVideoCreations } from '../../domain/video/video-record.ts'
import type { VideoCreations, VideoTaskList } from '../../domain/video/video-task.ts'

/** Makes the body of a task's status route: each read signs the links again. */
export const toCreations = (task: VideoTaskRow, signer: Signer, now: Date): VideoCreations =>
  makeVideoCreations(task, (name) => signer.signFile(task.id, name, now))

/** A task as a list shows it. */
export const toListed = (
  task: VideoTaskRow,
  signer: Signer,
  now: Date,
): VideoTaskList['tasks'][number] => {
  const { model, duration, resolution } = task.settings as Pick<
    VideoTaskList['tasks'][number],
    'model' | 'duration' | 'resolution'
  >
  const createdAt = task.createdAt.toISOString()
  return { ...toCreations(task, signer, now), created_at: createdAt, model, duration, resolution }
}
