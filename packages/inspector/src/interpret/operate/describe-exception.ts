import { strOf } from './text-of.ts'
import type { Runtime, Value } from '../types.ts'
import { isInstanceValue } from '../values/read-value.ts'

/** One line for a note: class and message. */
export function describeException(rt: Runtime, exception: Value): string {
  if (!isInstanceValue(exception)) return 'an unknown exception'
  const text = strOf(rt, exception) ?? '?'
  return text === '' ? exception.cls.name : `${exception.cls.name}: ${text}`.slice(0, 300)
}
