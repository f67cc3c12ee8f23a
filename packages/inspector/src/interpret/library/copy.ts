import { isObject } from '../values/read-value.ts'
import { makeDict, setEntry } from '../operate/mapping.ts'
import { callSpecial } from '../operate/call.ts'
import { dictCopy, dictEntries } from '../values/dict.ts'
import { makeList, makeTuple, makeUnknown } from '../values/make-value.ts'
import { nativeModule } from '../values/native.ts'
import type {
  InstanceValue,
  ModuleValue,
  NativeCall,
  ObjectValue,
  Runtime,
  Value,
} from '../types.ts'

/** `copy`. */
export const makeCopy = (): ModuleValue =>
  nativeModule('copy', { functions: { copy: shallow, deepcopy: deep } })

/** Deeper values are shared instead of copied. */
const MAX_DEPTH = 200

const shallow: NativeCall = (rt, [value]) => {
  if (!isObject(value)) return value
  const own = callSpecial(rt, value, '__copy__', [])
  if (own !== undefined) return own
  switch (value.kind) {
    case 'list':
      return rt.budget.allowItems(value.items.length)
        ? makeList(value.items.slice(), value.rest)
        : undefined
    case 'dict':
      return rt.budget.allowItems(value.values.size) ? dictCopy(value) : undefined
    case 'set':
      return value.frozen ? value : { ...value, items: new Map(value.items) }
    case 'instance':
      return undefined
    default:
      return value
  }
}

const deep: NativeCall = (rt, [value]) =>
  value === undefined ? undefined : deepCopy(rt, value, { copies: new Map(), depth: 0 })

interface Memo {
  /** Copies by original: an object that occurs twice is one object in the copy too, and may hold itself. */
  copies: Map<object, Value>
  depth: number
}

const deepCopy = (rt: Runtime, value: Value, memo: Memo): Value => {
  if (!isObject(value) || memo.depth > MAX_DEPTH) return value
  const known = memo.copies.get(value)
  if (known !== undefined) return known
  rt.budget.step(1)
  const inner: Memo = { copies: memo.copies, depth: memo.depth + 1 }
  const copied = copyObject(rt, value, inner)
  memo.copies.set(value, copied)
  return copied
}

const copyObject = (rt: Runtime, value: ObjectValue, memo: Memo): Value => {
  switch (value.kind) {
    case 'list': {
      if (!rt.budget.allowItems(value.items.length)) return value
      const list = makeList([], value.rest)
      memo.copies.set(value, list)
      list.items = value.items.map((item) => deepCopy(rt, item, memo))
      return list
    }
    case 'tuple':
      return makeTuple(
        value.items.map((item) => deepCopy(rt, item, memo)),
        value.rest,
      )
    case 'dict': {
      if (!rt.budget.allowItems(value.values.size)) return value
      const dict = makeDict(rt, [])
      memo.copies.set(value, dict)
      for (const [key, item] of dictEntries(value))
        setEntry(rt, dict, key, deepCopy(rt, item, memo))
      dict.rest = value.rest
      return dict
    }
    case 'set':
      return value.frozen ? value : { ...value, items: new Map(value.items) }
    case 'instance':
      return deepCopyInstance(rt, value)
    default:
      // Functions, classes and modules are one object everywhere.
      return value
  }
}

/** By its own method alone: what else an instance holds may be private to a class of the library. */
const deepCopyInstance = (rt: Runtime, value: InstanceValue): Value =>
  callSpecial(rt, value, '__deepcopy__', [makeDict(rt, [])]) ?? makeUnknown('copy.deepcopy()')
