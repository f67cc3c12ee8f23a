import type { Fault } from '../shared/validate.ts'

/** A fault of the registry; its message begins with the field, unless that is the whole body. */
export const registryFault = (
  field: string,
  sentence: string,
  code: Fault['code'] = 'validation_failed',
): Fault => ({ field, code, message: `${field} ${sentence}`.trimStart() })
