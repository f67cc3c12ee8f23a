import type { Value } from './value.ts'

const PLAIN_NAMES = new Map([
  ['string', 'str'],
  ['bigint', 'int'],
  ['number', 'float'],
  ['boolean', 'bool'],
])

/** Short name of a value for the names of unknowns. */
export function nameOf(value: Value): string {
  if (value === null) return 'None'
  if (typeof value !== 'object') return PLAIN_NAMES.get(typeof value) ?? 'value'
  switch (value.kind) {
    case 'unknown':
    case 'native':
    case 'module':
    case 'class':
    case 'function':
      return value.name
    case 'method':
      return nameOf(value.function)
    case 'instance':
      return `${value.cls.name}()`
    default:
      return value.kind
  }
}
