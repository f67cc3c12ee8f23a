/** Codes a failed image task ends with, and the message of each for the caller. All are final. */
export const TASK_ERRORS = {
  cancelled: 'The caller cancelled the task.',
  download_failed: 'The image could not be downloaded.',
  address_refused: 'The address of an image is not one this service calls.',
  file_too_large: 'A downloaded image is over the byte limit.',
  image_invalid: 'An image is not in a format this service decodes, or is damaged.',
  pixel_limit: 'An image, or the result asked for, has too many pixels.',
  video_invalid:
    'A video is not MP4, MOV, Matroska or WebM of at most 60 s, or has no stream that can be decoded.',
  engine_failed: 'The engine failed three times.',
  engine_crashed:
    'Two machines of the engine have reported an error of their device for this task.',
  internal_error: 'An error of this service.',
  timeout: 'The task did not end within its deadline.',
  start_timeout: 'The task had not begun within the time that its request gave it.',
  deadline_exceeded: 'The task had not ended within the time that its request gave it.',
  workflow_lost: 'The job that drove the task is gone.',
  upstream_rejected: 'The upstream service rejected the task.',
  upstream_unauthorized: 'The upstream service does not know this service.',
  upstream_no_credits: 'The upstream service has no credits left for this service.',
  upstream_lost: 'The upstream service does not know the task any more.',
  upstream_failed: 'The upstream service could not do the task.',
} as const

export type TaskErrorCode = keyof typeof TASK_ERRORS

export const isTaskErrorCode = (code: string): code is TaskErrorCode =>
  Object.hasOwn(TASK_ERRORS, code)

/**
 * An error that ends a task at once because no retry can mend it. The caller sees the message: it must hold no address,
 * path or stack.
 */
export class TaskError extends Error {
  override name = 'TaskError'
  readonly code: TaskErrorCode

  constructor(code: TaskErrorCode, message: string = TASK_ERRORS[code], options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
