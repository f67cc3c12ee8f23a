import type { AugAssign, Expression } from '../../python/ast.ts'
import { augment } from './augment.ts'
import { isUnknown, makeList, orElse } from '../values/make-value.ts'
import { bindName, lookUpName } from '../evaluate/name.ts'
import type { Runtime } from '../runtime.ts'
import type { Scope } from '../values/scope.ts'
import type { Value } from '../values/value.ts'

/** See `Runtime.assign`. */
export function assignTarget(rt: Runtime, target: Expression, value: Value, scope: Scope): void {
  switch (target.kind) {
    case 'Name':
      bindName(scope, target.id, value)
      return
    case 'Attribute':
      rt.setAttribute(rt.evaluateSafely(target.value, scope), target.attr, value)
      return
    case 'Subscript': {
      const container = rt.evaluateSafely(target.value, scope)
      rt.setItem(container, rt.evaluateSafely(target.index, scope), value)
      return
    }
    case 'Tuple':
    case 'List':
      unpack(rt, target.items, value, scope)
      return
    case 'Starred':
      assignTarget(rt, target.value, value, scope)
  }
}

/** `a, *b, c = value`. What is missing is unknown. */
function unpack(rt: Runtime, targets: Expression[], value: Value, scope: Scope): void {
  const { items, rest } = rt.readItems(value)
  const star = targets.findIndex((target) => target.kind === 'Starred')
  const item = (index: number) => orElse(items[index], () => rt.unknown('item[]', originOf(value)))
  if (star < 0) {
    for (const [index, target] of targets.entries()) assignTarget(rt, target, item(index), scope)
    return
  }
  const after = targets.length - star - 1
  const end = Math.max(star, items.length - after)
  for (const [index, target] of targets.entries()) {
    if (index < star) assignTarget(rt, target, item(index), scope)
    else if (index === star) assignTarget(rt, target, makeList(items.slice(star, end), rest), scope)
    else assignTarget(rt, target, rest ? item(-1) : item(end + index - star - 1), scope)
  }
}

function originOf(value: Value) {
  return isUnknown(value) ? value.origin : 'pack'
}

/** `target op= value`. The target's parts are evaluated once. */
export function augmentTarget(rt: Runtime, node: AugAssign, scope: Scope): undefined {
  const { target, op } = node
  if (target.kind === 'Name') {
    const before = lookUpName(rt, scope, target.id)
    bindName(scope, target.id, augment(rt, op, before, rt.evaluateSafely(node.value, scope)))
  } else if (target.kind === 'Attribute') {
    const object = rt.evaluateSafely(target.value, scope)
    const before = rt.getAttribute(object, target.attr)
    const after = augment(rt, op, before, rt.evaluateSafely(node.value, scope))
    rt.setAttribute(object, target.attr, after)
  } else if (target.kind === 'Subscript') {
    const container = rt.evaluateSafely(target.value, scope)
    const key = rt.evaluateSafely(target.index, scope)
    const before = rt.getItem(container, key)
    rt.setItem(container, key, augment(rt, op, before, rt.evaluateSafely(node.value, scope)))
  }
}

/** `del target`. */
export function deleteTarget(rt: Runtime, target: Expression, scope: Scope): void {
  switch (target.kind) {
    case 'Name':
      ;(scope.declared?.get(target.id) ?? scope).names.delete(target.id)
      return
    case 'Attribute':
      rt.deleteAttribute(rt.evaluateSafely(target.value, scope), target.attr)
      return
    case 'Subscript':
      rt.deleteItem(rt.evaluateSafely(target.value, scope), rt.evaluateSafely(target.index, scope))
      return
    case 'Tuple':
    case 'List':
      for (const item of target.items) deleteTarget(rt, item, scope)
  }
}
