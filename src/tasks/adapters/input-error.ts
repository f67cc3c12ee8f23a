import { InputError, type InputErrorCode } from '../../../packages/engines/src/input-error.ts'
import { TaskError } from '../domain/task-error.ts'
import { VideoError, type VideoErrorCode } from '../domain/video/video-error.ts'

/** Turns what the engines say of an input into the error of an image task; any other error stays. */
export const toTaskError = (error: unknown): unknown =>
  error instanceof InputError && error.code !== 'no_decoder'
    ? new TaskError(error.code, error.sentence, { cause: error })
    : error

/** The same, into the error of a video task. */
export const toVideoError = (error: unknown): unknown =>
  error instanceof InputError
    ? new VideoError(VIDEO_CODES[error.code], error.sentence, { cause: error })
    : error

const VIDEO_CODES: Record<InputErrorCode, VideoErrorCode> = {
  image_invalid: 'ImageFormatInvalid',
  pixel_limit: 'ImageSizeInvalid',
  video_invalid: 'VideoFormatInvalid',
  no_decoder: 'ModelUnavailable',
}
