import { ERROR_CODES } from '../../src/platform/domain/errors.ts'
import { TASK_ERRORS } from '../../src/tasks/domain/task-error.ts'
import { VIDEO_ERRORS } from '../../src/tasks/domain/video/video-error.ts'
import { makeList, makePage, wrap } from './markdown.ts'

/** The page of all codes: of requests, of failed image tasks, of failed video tasks. */
export const makeErrorsPage = (): string =>
  makePage('Errors', '`src/platform/domain/errors.ts` and the errors of tasks', [
    wrap(INTRO),
    makeErrorList(),
    '## Image tasks in FAILED',
    'The task says why in `error.code` and `error.message`.',
    makeCodeList(TASK_ERRORS),
    '## Video tasks in failed',
    wrap(VIDEO_INTRO),
    makeCodeList(VIDEO_ERRORS),
  ])

const INTRO = `Every error is \`{error, message, details?, request_id}\`. A 400 lists every error of the request in \`details\`: the member, what was
expected, what came.`

const VIDEO_INTRO = `The task says why in \`err_code\` and \`err_msg\`. Errors of video routes have a word in \`details[0]\` before the errors of fields, such as
\`FieldInvalid\` or \`CreditInsufficient\`.`

const makeErrorList = (): string => {
  const codes = Object.entries(ERROR_CODES).toSorted(([, a], [, b]) => a.status - b.status)
  return makeList(
    codes.map(([code, { status, meaning, ...more }]) => {
      const statuses =
        'videoStatus' in more ? `${status}; ${more.videoStatus} on video routes` : status
      return `\`${code}\` (${statuses}): ${meaning}`
    }),
  )
}

const makeCodeList = (codes: Readonly<Record<string, string>>): string =>
  makeList(Object.entries(codes).map(([code, meaning]) => `\`${code}\`: ${meaning}`))
