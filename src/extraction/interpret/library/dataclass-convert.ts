import { isDict, isInstanceValue, isObject, isSequence } from '../values/guards.ts'
import { getAttribute } from '../operate/attribute.ts'
import { makeDict } from '../operate/mapping.ts'
import { dictEntries } from '../values/dict.ts'
import { makeList, makeTuple } from '../values/make-value.ts'
import type { Runtime } from '../runtime.ts'
import type { Value } from '../values/value.ts'
import { fieldStatesOf, fieldsOf } from './dataclass-fields.ts'

/** Deeper values hold themselves. */
const MAX_DEPTH = 60

/** `asdict(value)`: dataclasses inside lists, tuples and dicts too; undefined if the value is none. */
export const toDict = (rt: Runtime, value: Value): Value | undefined =>
  fieldsOf(value) === undefined ? undefined : convert(rt, value, 0)

const convert = (rt: Runtime, value: Value, depth: number): Value => {
  if (!isObject(value) || depth > MAX_DEPTH) return value
  rt.budget.step(1)
  const deeper = (item: Value) => convert(rt, item, depth + 1)
  if (isInstanceValue(value) && fieldsOf(value) !== undefined) {
    const fields = fieldStatesOf(value).filter((field) => !field.initOnly)
    return makeDict(
      rt,
      fields.map(({ name }) => [name, deeper(getAttribute(rt, value, name))]),
    )
  }
  if (isSequence(value)) {
    const items = value.items.map(deeper)
    return value.kind === 'list' ? makeList(items, value.rest) : makeTuple(items, value.rest)
  }
  if (!isDict(value)) return value
  const dict = makeDict(
    rt,
    dictEntries(value).map(([key, item]) => [deeper(key), deeper(item)]),
  )
  dict.rest = value.rest
  return dict
}
