import { isList, isNotImplemented, isObject } from '../values/guards.ts'
import { readItems } from '../operate/iterate.ts'
import { callSpecial } from '../operate/call.ts'
import { addToDict } from '../operate/mapping.ts'
import { METHODS, binary } from '../operate/operator.ts'
import { payloadOf } from '../values/payload.ts'
import { repeat } from '../operate/repeat.ts'
import type { Runtime } from '../runtime.ts'
import { combineSets } from '../operate/set-operation.ts'
import type { ListValue, SetValue, Value } from '../values/value.ts'

/** `left op= right`: lists, sets and dicts change in place. */
export function augment(rt: Runtime, op: string, left: Value, right: Value): Value {
  const own = callSpecial(rt, left, `__i${METHODS.get(op)}__`, [right])
  if (own !== undefined && !isNotImplemented(own)) return own
  const target = payloadOf(left)
  if (!isObject(target)) return binary(rt, op, left, right)
  if (op === '+' && target.kind === 'list') {
    extendList(rt, target, right)
    return left
  }
  if (op === '*' && target.kind === 'list') return repeatInPlace(rt, left, target, right)
  if (op === '|' && target.kind === 'dict') {
    addToDict(rt, target, right)
    return left
  }
  if (target.kind === 'set' && !target.frozen) return augmentSet(rt, op, left, target, right)
  return binary(rt, op, left, right)
}

function repeatInPlace(rt: Runtime, left: Value, list: ListValue, times: Value): Value {
  const repeated = repeat(rt, list, times)
  if (isList(repeated)) list.items = repeated.items
  else list.rest = true
  return left
}

/** `list.extend`. */
export function extendList(rt: Runtime, list: ListValue, value: Value): void {
  const { items, rest } = readItems(rt, value)
  if (rest || rt.state.repeating > 0) list.rest = true
  if (!rt.budget.allowItems(list.items.length + items.length)) {
    list.rest = true
    return
  }
  for (const item of items) list.items.push(item)
}

function augmentSet(rt: Runtime, op: string, left: Value, target: SetValue, right: Value): Value {
  const combined = combineSets(rt, op, target, right)
  if (combined === undefined) {
    target.rest = true
    return left
  }
  target.items = combined.items
  target.rest = combined.rest
  return left
}
