import type { Value } from './value.ts'

/** The builtin value that an instance of a builtin's subclass holds; any other value itself. */
export function payloadOf(value: Value): Value {
  return typeof value === 'object' && value?.kind === 'instance' && value.payload !== undefined
    ? value.payload
    : value
}
