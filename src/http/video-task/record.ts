import type { Signer } from '../../adapters/signing.ts'
import type { VideoTaskRow } from '../../db/video-task.ts'
import type { VideoCreation, VideoCreations, VideoTaskList } from '../../domain/video-task.ts'

/** A task as its status route answers it: each read signs the links anew. */
export const toCreations = (task: VideoTaskRow, signer: Signer, now: Date): VideoCreations => ({
  id: task.id,
  state: task.state,
  err_code: task.error?.code ?? '',
  err_msg: task.error?.message ?? '',
  credits: task.credits,
  ...(task.payload === null ? {} : { payload: task.payload }),
  bgm: task.settings.bgm ?? false,
  off_peak: task.offPeak,
  progress: task.progress,
  creations: listCreations(task, (name) => signer.signFile(task.id, name, now)),
})

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

const listCreations = (
  { creation, results }: VideoTaskRow,
  sign: (name: string) => string,
): VideoCreation[] => {
  if (!creation) return []
  const { id, seconds, fps, width, height } = creation
  return [
    {
      id,
      url: sign('video.mp4'),
      cover_url: sign('cover.jpg'),
      watermarked_url: results.includes('watermarked.mp4') ? sign('watermarked.mp4') : '',
      moderation_url: [],
      video: { duration: seconds, fps, resolution: { width, height } },
    },
  ]
}
