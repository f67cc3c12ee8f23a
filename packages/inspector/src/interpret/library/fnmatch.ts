import { pathOf } from '../operate/arguments.ts'
import { readItems } from '../operate/iterate.ts'
import { makeList } from '../values/make-value.ts'
import { nativeModule } from '../values/native.ts'
import type { Runtime } from '../runtime.ts'
import { matchWildcard } from '../text/path/wildcard.ts'
import type { ModuleValue, NativeCall } from '../values/value.ts'
import { functionsOf } from './support/names.ts'

/** `fnmatch`: on Linux names keep their case. */
export const makeFnmatch = (): ModuleValue =>
  nativeModule('fnmatch', functionsOf('fnmatch', { fnmatch, fnmatchcase: fnmatch, filter }))

const match = (rt: Runtime, text: string, wildcard: string): boolean | undefined => {
  rt.budget.step((text.length * wildcard.length) >> 8)
  return matchWildcard(text, wildcard)
}

const fnmatch: NativeCall = (rt, [name, pattern]) => {
  const [text, wildcard] = [pathOf(rt, name), pathOf(rt, pattern)]
  if (text === undefined || wildcard === undefined) return undefined
  return match(rt, text, wildcard)
}

/** A name that can't be decided is kept, and more may follow. */
const filter: NativeCall = (rt, [names, pattern]) => {
  const wildcard = pathOf(rt, pattern)
  if (names === undefined || wildcard === undefined) return undefined
  const { items, rest } = readItems(rt, names)
  const kept = items.filter((item) => {
    const text = pathOf(rt, item)
    return text === undefined || match(rt, text, wildcard) !== false
  })
  return makeList(kept, rest)
}
