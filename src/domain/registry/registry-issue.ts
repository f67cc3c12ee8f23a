import type { Issue } from '../shared/validate.ts'

/** Makes an issue of the registry; its message begins with the field, unless that is the whole body. */
export const registryIssue = (
  field: string,
  sentence: string,
  code: Issue['code'] = 'validation_failed',
): Issue => ({ field, code, message: `${field} ${sentence}`.trimStart() })
