import type { Call, Expression, Import, ImportFrom } from '../../python/ast.ts'
import { isList } from './parts.ts'
import { bind, bindName, findOwnClass, moduleOf, type Binding, type Scope } from './scope.ts'

/**
 * Binds the names of a target: a name, `self.name`, `helper.name`, `globals()['name']`, or an unpacking, matched item by
 * item where both sides show them.
 */
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
      else bindPlace(at.value.id, at.attr, bound, scope)
    } else if (at.kind === 'Subscript' && isGlobals(at.value)) bindGlobal(at.index, bound, scope)
  }
}

/** Under which name a scope has what was assigned to an attribute of a name: no other name has a dot. */
export const placeOf = (id: string, attribute: string): string => `${id}.${attribute}`

const bindPlace = (id: string, attribute: string, binding: Binding, scope: Scope): void => {
  scope.file.places.add(attribute)
  bindName(scope, placeOf(id, attribute), binding)
}

const bindGlobal = (key: Expression, binding: Binding, scope: Scope): void => {
  if (key.kind === 'Constant' && typeof key.value === 'string')
    bind(moduleOf(scope).names, key.value, binding)
}

const isGlobals = (node: Expression): boolean =>
  node.kind === 'Call' && node.func.kind === 'Name' && node.func.id === 'globals'

/** `setattr(helper, 'run', exec)` binds as `helper.run = exec` does. */
export const bindSetattr = ({ func, args, line }: Call, scope: Scope): void => {
  const [value, name, content] = args
  if (func.kind !== 'Name' || func.id !== 'setattr' || !value || !content) return
  if (name?.kind !== 'Constant' || typeof name.value !== 'string') return
  const target: Expression = { kind: 'Attribute', value, attr: name.value, line }
  bindTarget(target, { kind: 'value', value: content, scope }, scope)
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
