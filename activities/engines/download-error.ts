import type { OutboundError, OutboundErrorKind } from '../../src/platform/outbound/error.ts'
import { TaskError, type TaskErrorCode } from '../../src/tasks/domain/task-error.ts'

/** The error a task ends with when fetching `field` (a JSON Pointer such as `/image`) failed. */
export const toTaskError = (error: OutboundError, field: string): TaskError =>
  new TaskError(CODES[error.kind] ?? 'download_failed', `${field}: ${error.message}`, {
    cause: error,
  })

const CODES: Partial<Record<OutboundErrorKind, TaskErrorCode>> = {
  address_refused: 'address_refused',
  downgrade: 'address_refused',
  too_large: 'file_too_large',
}
