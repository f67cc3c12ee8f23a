import { Value } from 'typebox/value'

import { END_IMAGE } from './domain/video/end-image.ts'
import { VIDEO_PREFIX } from './domain/video/video-path.ts'
import { ExtendRecord, TextToVideoRecord, type VideoTaskKind } from './domain/video/video-task.ts'
import type { TaskDeps } from './deps.ts'
import type { CreationResponse, PlannedTask } from './creation.ts'
import type { VideoPlan } from './plan-video.ts'

interface MadeVideo extends Omit<PlannedTask, 'createdAt'> {
  kind: VideoTaskKind
  video: VideoPlan
  payload: string | null
  warnings: string[]
  createdAt: Date
}

export const respondToCreation = (deps: TaskDeps, made: MadeVideo): CreationResponse => {
  const { id, kind, video, inputs, payload, engine } = made
  const { made: otherwise, estimate } = video.describe(inputs)
  const images = listImages(deps, made)
  const record = {
    task_id: id,
    state: 'created',
    credits: video.credits,
    created_at: made.createdAt.toISOString(),
    ...video.settings,
    ...(otherwise && { aspect_ratio: undefined, ...otherwise }),
    ...(images.length > 0 && { images }),
    ...(payload !== null && { payload }),
    ...(made.warnings.length > 0 && { warnings: made.warnings }),
  }
  return {
    status: 200,
    // A record has only some of the settings.
    body: Value.Clean(kind === 'extend' ? ExtendRecord : TextToVideoRecord, record) as object,
    headers: {
      location: `${deps.publicUrl}${VIDEO_PREFIX}/tasks/${id}/creations`,
      'x-credits-used': String(video.credits),
      ...(engine === 'local' && {
        'x-estimated-duration-seconds': String(estimate),
      }),
    },
  }
}

/** URLs as given; of an inline image a signed link to its stored copy. */
const listImages = (
  { signer, now }: Pick<TaskDeps, 'signer' | 'now'>,
  { id, inputs }: Pick<MadeVideo, 'id' | 'inputs'>,
): string[] =>
  inputs
    .filter(({ field }) => field === 'images' || field === END_IMAGE)
    .map(({ url, name }) => url ?? signer.signFile(id, name ?? '', now()))
