import { ERROR_CODES } from '../../src/domain/errors.ts'
import { TASK_FAULTS } from '../../src/domain/task-fault.ts'
import { makeTable } from './markers.ts'

/** The table of the codes a request can be answered with, by status. */
export const makeErrorTable = (): string => {
  const codes = Object.entries(ERROR_CODES).toSorted(([, a], [, b]) => a.status - b.status)
  return makeTable(
    ['status', '`error`', 'meaning'],
    codes.map(([code, { status, meaning }]) => [String(status), `\`${code}\``, meaning]),
  )
}

/** The table of the codes in `error.code` of a task in FAILED. */
export const makeFaultTable = (): string =>
  makeTable(
    ['`error.code`', 'meaning'],
    Object.entries(TASK_FAULTS).map(([code, meaning]) => [`\`${code}\``, meaning]),
  )
