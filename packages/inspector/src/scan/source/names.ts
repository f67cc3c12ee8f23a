import type { Call, Expression, Subscript } from '../../python/ast.ts'
import { BUILTINS, canonicalName, findBindings } from './find-bindings.ts'
import { gather, join } from './parts.ts'
import type { Binding, Query, Scope } from './scope.ts'
import { IMPORTERS, itemsOf, keywordOf } from './targets.ts'

/**
 * Dotted names an expression may stand for, through imports, aliases and assignments: `sp.run` after
 * `import subprocess as sp` is `subprocess.run`, what a call gives is `requests.get()`, an item `x[]`. Builtins are
 * `builtins.eval`. Also through what is spelt to hide it: `getattr(os, 'system')`, `__import__('os').system`,
 * `vars(os)['system']`, `sys.modules['os']`. Empty for what can't be known.
 */
export const namesWithin = (node: Expression, scope: Scope, query: Query): string[] => {
  switch (node.kind) {
    case 'Name':
      return namesOfName(node.id, scope, query)
    case 'Attribute':
      return join(
        namesOfTargets(node, scope, query),
        member(query.names(node.value, scope), node.attr),
      )
    case 'Call':
      return join(namesOfTargets(node, scope, query), namesOfCall(node, scope, query))
    case 'Subscript':
      return join(namesOfTargets(node, scope, query), namesOfItem(node, scope, query))
    case 'Await':
    case 'NamedExpr':
      return query.names(node.value, scope)
    case 'IfExp':
      return [node.body, node.orelse].flatMap((part) => query.names(part, scope))
    case 'BoolOp':
      return node.values.slice(0, MAX_CHOICES).flatMap((part) => query.names(part, scope))
    default:
      return []
  }
}

/** `a or b or c`. */
const MAX_CHOICES = 8

const namesOfName = (id: string, scope: Scope, query: Query): string[] => {
  const bindings = findBindings(scope, id)
  const builtin = BUILTINS.has(id) ? [`builtins.${id}`] : []
  if (bindings)
    return join(
      gather(bindings, (binding) => namesOfBinding(binding, query)),
      builtin.length > 0 && bindings.some((binding) => isItself(binding, id)) ? builtin : [],
    )
  return id === '__builtins__' ? [canonicalName(id)] : builtin
}

/** `exec = exec` leaves the builtin what it is. */
const isItself = (binding: Binding, id: string): boolean =>
  (binding.kind === 'value' || binding.kind === 'parameter') &&
  binding.value?.kind === 'Name' &&
  binding.value.id === id

const namesOfTargets = (node: Expression, scope: Scope, query: Query): string[] =>
  gather(query.targets(node, scope), (binding) => namesOfBinding(binding, query))

const namesOfBinding = (binding: Binding, query: Query): string[] => {
  switch (binding.kind) {
    case 'import':
      return [canonicalName(binding.name)]
    case 'value':
      return query.names(binding.value, binding.scope)
    case 'parameter':
      return binding.value ? query.names(binding.value, binding.scope) : []
    case 'item':
      return [
        ...query.names(binding.value, binding.scope).map((name) => `${name}[]`),
        ...itemsOf(binding, query).flatMap((item) => namesOfBinding(item, query)),
      ]
    default:
      return []
  }
}

const member = (names: string[], attr: string): string[] =>
  gather(names, (name) => {
    if (name.length >= MAX_LENGTH) return []
    const isSame = (attr === 'get' && name.endsWith('.__dict__')) || attr === '__call__'
    return [isSame ? name : canonicalName(`${name}.${attr}`)]
  })

/** Beyond it no rule has a name. */
const MAX_LENGTH = 200

const namesOfCall = (node: Call, scope: Scope, query: Query): string[] =>
  gather(query.names(node.func, scope), (func) => {
    const [first = keywordOf(node, 'name'), second] = node.args
    const text = (part: Expression | undefined): string | undefined =>
      part && query.constant(part, scope)
    if (func === 'builtins.getattr' && first) {
      const attr = text(second)
      return attr === undefined ? [] : member(query.names(first, scope), attr)
    }
    if (func === 'operator.attrgetter()' && first && node.func.kind === 'Call') {
      const attr = text(node.func.args[0])
      return attr === undefined ? [] : member(query.names(first, scope), attr)
    }
    if (IMPORTERS.has(func)) {
      const name = text(first)
      return name === undefined ? [] : [canonicalName(name)]
    }
    if (func === 'builtins.vars' && first) return member(query.names(first, scope), '__dict__')
    if (func === 'builtins.globals') return ['builtins.globals()']
    if (func.endsWith('.__dict__')) return memberOfText(func, text(first))
    return func.length < MAX_LENGTH ? [`${func}()`] : []
  })

const namesOfItem = (node: Subscript, scope: Scope, query: Query): string[] =>
  query.names(node.value, scope).flatMap((base) => {
    if (base.length > MAX_LENGTH) return []
    if (base !== 'sys.modules' && !base.endsWith('.__dict__') && !NAMESPACES.has(base))
      return [`${base}[]`]
    return memberOfText(base, query.constant(node.index, scope))
  })

/** Items of these are modules or builtins. */
const NAMESPACES = new Set(['sys.modules', 'builtins', 'builtins.globals()'])

const memberOfText = (holder: string, key: string | undefined): string[] => {
  if (key === undefined) return []
  if (holder === 'sys.modules' || key === '__builtins__') return [canonicalName(key)]
  if (NAMESPACES.has(holder)) return [`builtins.${key}`]
  return member([holder.slice(0, -'.__dict__'.length)], key)
}
