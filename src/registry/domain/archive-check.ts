/**
 * Why checks could not run, by code: always an error of the service, never of the archive. The version shows the text.
 */
export const CHECK_ERRORS = {
  archive_missing: 'the stored archive is missing',
  archive_differs: 'the stored archive is not the one that was uploaded',
  unavailable: 'the database could not be reached',
  storage_failed: 'the archive could not be read or stored',
  worker_lost: 'the worker was lost',
  cancelled: 'an operator cancelled them',
  workflow_lost: 'the workflow was ended',
  internal_error: 'an error of the service',
} as const

export type CheckErrorCode = keyof typeof CHECK_ERRORS

/** The text of a code; an unknown code has the text of `internal_error`. */
export const checkCause = (code: string): string =>
  CHECK_ERRORS[Object.hasOwn(CHECK_ERRORS, code) ? (code as CheckErrorCode) : 'internal_error']
