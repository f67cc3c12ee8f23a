import type { Expression, Import, ImportFrom } from '../../python/ast.ts'
import { isList } from './parts.ts'
import { bind, bindName, findOwnClass, moduleOf } from './scope.ts'
import type { Binding, Scope } from './scope.ts'

/** Binds the names of a target: a name, `self.name`, or an unpacking, matched item by item where both sides show them. */
export const bindTarget = (target: Expression, binding: Binding, scope: Scope): void => {
  const todo: [Expression, Binding][] = [[target, binding]]
  for (let next = todo.pop(); next; next = todo.pop()) {
    const [at, bound] = next
    if (at.kind === 'Name') bindName(scope, at.id, bound)
    else if (at.kind === 'Starred') todo.push([at.value, itemOf(bound)])
    else if (isList(at)) todo.push(...unpack(at.items, bound))
    else if (at.kind === 'Attribute' && at.value.kind === 'Name') {
      const owner = findOwnClass(scope, at.value.id)
      if (owner) bind(owner.attributes, at.attr, bound)
    }
  }
}

const unpack = (targets: Expression[], binding: Binding): [Expression, Binding][] => {
  const items = binding.kind === 'value' && isList(binding.value) ? binding.value.items : []
  const matched = items.length === targets.length && !targets.some(({ kind }) => kind === 'Starred')
  return targets.map((target, at) => {
    const item = matched ? items[at] : undefined
    return [
      target,
      item && binding.kind === 'value' ? { ...binding, value: item } : itemOf(binding),
    ]
  })
}

const itemOf = (binding: Binding): Binding =>
  binding.kind === 'value' || binding.kind === 'item' ? { ...binding, kind: 'item' } : binding

export const bindImport = (node: Import, scope: Scope): void => {
  for (const { name, asname } of node.names) {
    const top = name.split('.')[0] ?? name
    bindName(scope, asname ?? top, { kind: 'import', name: asname ? name : top, scope })
  }
}

/** Names of modules of the pack keep their dots, which no rule's name has. */
export const bindImportFrom = (node: ImportFrom, scope: Scope): void => {
  const from = '.'.repeat(node.level) + (node.module ?? '')
  for (const { name, asname } of node.names) {
    if (name === '*') moduleOf(scope).stars.push(from)
    else {
      const separator = from.endsWith('.') ? '' : '.'
      bindName(scope, asname ?? name, { kind: 'import', name: `${from}${separator}${name}`, scope })
    }
  }
}
