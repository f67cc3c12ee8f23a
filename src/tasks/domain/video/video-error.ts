import type { TaskError, TaskErrorCode } from '../task-error.ts'

/**
 * Codes that a failed video task ends with (`err_code`), and the message of each for the caller when no more exact one
 * is known. All are final.
 */
export const VIDEO_ERRORS = {
  UserCancelled: 'The caller cancelled the task.',
  ImageDownloadFailure: 'An image could not be downloaded.',
  VideoDownloadFailure: 'The source video could not be downloaded.',
  PageSizeOutOfRange: 'A downloaded image is over the byte limit.',
  ImageFormatInvalid: 'An image is not in a format this service decodes, or is damaged.',
  ImageSizeInvalid: 'An image has too many pixels, or a start image is longer than 4:1 or 1:4.',
  VideoFormatInvalid:
    'The source video is over the byte limit, not MP4, MOV, Matroska or WebM, not 4 to 60 s long, or has no stream that can be decoded.',
  ModelUnavailable: 'No ffmpeg that may read a caller’s video is installed.',
  InternalServiceFailure: 'An error of this service.',
  SystemThrottling: 'The off-peak task did not end within its deadline.',
} as const

export type VideoErrorCode = keyof typeof VIDEO_ERRORS
export const VIDEO_ERROR_CODES = Object.keys(VIDEO_ERRORS) as VideoErrorCode[]

/**
 * An error that ends a video task at once because no retry can mend it. The caller sees the message: it must hold no
 * address, path or stack.
 */
export class VideoError extends Error {
  override name = 'VideoError'
  readonly code: VideoErrorCode

  constructor(
    code: VideoErrorCode,
    message: string = VIDEO_ERRORS[code],
    options: ErrorOptions = {},
  ) {
    super(message, options)
    this.code = code
  }
}

/** True when a word from an upstream is a code of ours. */
export const isVideoErrorCode = (word: unknown): word is VideoErrorCode =>
  typeof word === 'string' && Object.hasOwn(VIDEO_ERRORS, word)

/** The kind of input that broke. */
export type Medium = 'image' | 'video'

/**
 * Turns an error of the parts that both families share (download, decoder, engine frame) into a video task's error.
 * The sentence stays: it names field and limit.
 */
export const toVideoError = (error: TaskError, medium: Medium): VideoError =>
  new VideoError(MEDIUM_CODES[medium][error.code], messageOf(error), { cause: error })

const messageOf = ({ code, message }: TaskError): string => {
  if (code === 'address_refused') return 'address not allowed'
  // The codes of videos have no word for these.
  return NAMED_IN_MESSAGE.includes(code) ? `${code}: ${message}` : message
}

const NAMED_IN_MESSAGE: readonly TaskErrorCode[] = [
  'engine_crashed',
  'start_timeout',
  'deadline_exceeded',
]

/** Codes of errors that do not depend on the input. */
const COMMON = {
  cancelled: 'UserCancelled',
  engine_failed: 'InternalServiceFailure',
  engine_crashed: 'InternalServiceFailure',
  internal_error: 'InternalServiceFailure',
  timeout: 'InternalServiceFailure',
  video_invalid: 'VideoFormatInvalid',
  start_timeout: 'InternalServiceFailure',
  deadline_exceeded: 'InternalServiceFailure',
  workflow_lost: 'InternalServiceFailure',
  upstream_rejected: 'InternalServiceFailure',
  upstream_unauthorized: 'InternalServiceFailure',
  upstream_no_credits: 'InternalServiceFailure',
  upstream_lost: 'InternalServiceFailure',
  upstream_failed: 'InternalServiceFailure',
} as const

const MEDIUM_CODES: Record<Medium, Record<TaskErrorCode, VideoErrorCode>> = {
  image: {
    ...COMMON,
    download_failed: 'ImageDownloadFailure',
    address_refused: 'ImageDownloadFailure',
    file_too_large: 'PageSizeOutOfRange',
    image_invalid: 'ImageFormatInvalid',
    pixel_limit: 'ImageSizeInvalid',
  },
  video: {
    ...COMMON,
    download_failed: 'VideoDownloadFailure',
    address_refused: 'VideoDownloadFailure',
    file_too_large: 'VideoFormatInvalid',
    image_invalid: 'VideoFormatInvalid',
    pixel_limit: 'VideoFormatInvalid',
  },
}
