import { isVideoPath } from '../../domain/video/video-path.ts'
import { VideoReason, videoDetails } from '../../domain/video/video-reason.ts'
import type { ErrorForm } from '../../../platform/http/serve/errors.ts'

/** Errors of video routes: their clients look for a reason word in `details`. */
export const VIDEO_ERRORS: ErrorForm = {
  name: 'video',
  isOn: isVideoPath,
  detailsOf: videoDetails,
  details: {
    type: 'array',
    minItems: 2,
    items: { type: 'string', minLength: 1 },
    contains: { enum: VideoReason.enum },
    description: 'The reason word, then one sentence for each issue, or the message.',
  },
}
