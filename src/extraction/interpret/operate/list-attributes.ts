import { isObject } from '../values/guards.ts'
import { typeOf } from './type-of.ts'
import type { Runtime } from '../runtime.ts'
import { compareText } from '../text/string/code-points.ts'
import type { ClassValue, Value } from '../values/value.ts'

/** Sorted names that `dir(value)` gives; undefined if they can't be known. */
export function listAttributes(rt: Runtime, value: Value): string[] | undefined {
  const names = new Set<string>()
  if (isObject(value)) {
    if (value.kind === 'unknown') return undefined
    if (value.kind === 'module') return sorted(value.namespace.keys())
    if (value.kind === 'instance') addAll(names, value.attributes.keys())
    if (value.kind === 'class') {
      addClass(names, value)
      return sorted(names)
    }
  }
  const cls = typeOf(rt, value)
  if (cls.kind === 'class') addClass(names, cls)
  return sorted(names)
}

function addClass(names: Set<string>, cls: ClassValue): void {
  for (const base of cls.mro) if (base.kind === 'class') addAll(names, base.namespace.keys())
  addAll(names, ['__class__', '__dict__', '__doc__', '__module__'])
}

function addAll(names: Set<string>, more: Iterable<string>): void {
  for (const name of more) names.add(name)
}

function sorted(names: Iterable<string>): string[] {
  return [...names].toSorted(compareText)
}
