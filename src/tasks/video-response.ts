import { Value } from 'typebox/value'

import { END_IMAGE } from '../domain/video-task/end-image.ts'
import { VIDEO_PREFIX } from '../domain/video-task/video-path.ts'
import { ExtendRecord, TextToVideoRecord } from '../domain/video-task/video-task.ts'
import type { MadeVideo, VideoTaskDeps } from './create-video.ts'
import type { CreationResponse } from './creation.ts'

/** The response to a creation. */
export const respondToCreation = (deps: VideoTaskDeps, made: MadeVideo): CreationResponse => {
  const { id, kind, plan, payload, engine } = made
  const images = listImages(deps, made)
  const record = {
    task_id: id,
    state: 'created',
    credits: plan.credits,
    created_at: made.createdAt.toISOString(),
    ...plan.settings,
    ...(plan.made && { aspect_ratio: undefined, ...plan.made }),
    ...(images.length > 0 && { images }),
    ...(payload !== null && { payload }),
  }
  return {
    status: 200,
    // A record has only some of the settings.
    body: Value.Clean(kind === 'extend' ? ExtendRecord : TextToVideoRecord, record) as object,
    headers: {
      location: `${deps.publicUrl}${VIDEO_PREFIX}/tasks/${id}/creations`,
      'x-credits-used': String(plan.credits),
      ...(engine === 'local' && {
        'x-estimated-duration-seconds': String(plan.estimate),
      }),
    },
  }
}

/** URLs as given; of an inline image a signed link to its stored copy. */
const listImages = (
  { signer, now }: Pick<VideoTaskDeps, 'signer' | 'now'>,
  { id, inputs }: Pick<MadeVideo, 'id' | 'inputs'>,
): string[] =>
  inputs
    .filter(({ field }) => field === 'images' || field === END_IMAGE)
    .map(({ url, name }) => url ?? signer.signFile(id, name ?? '', now()))
