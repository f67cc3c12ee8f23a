import { ERROR_CODES } from '../../src/domain/shared/errors.ts'
import { TASK_FAULTS } from '../../src/domain/task/task-fault.ts'
import { VIDEO_FAULTS } from '../../src/domain/video-task/video-fault.ts'
import { makeTable } from './markers.ts'

/** The table of the codes a request can be answered with, by status. */
export const makeErrorTable = (): string => {
  const codes = Object.entries(ERROR_CODES).toSorted(([, a], [, b]) => a.status - b.status)
  return makeTable(
    ['status', '`error`', 'meaning'],
    codes.map(([code, { status, meaning, ...more }]) => [
      'videoStatus' in more ? `${status}; ${more.videoStatus} on video routes` : String(status),
      `\`${code}\``,
      meaning,
    ]),
  )
}

/** The table of the codes in `error.code` of a task in FAILED. */
export const makeFaultTable = (): string => makeCodeTable('`error.code`', TASK_FAULTS)

/** The table of the codes in `err_code` of a video task in failed. */
export const makeVideoFaultTable = (): string => makeCodeTable('`err_code`', VIDEO_FAULTS)

const makeCodeTable = (title: string, codes: Readonly<Record<string, string>>): string =>
  makeTable(
    [title, 'meaning'],
    Object.entries(codes).map(([code, meaning]) => [`\`${code}\``, meaning]),
  )
