import type { Call, Expression } from '../../python/ast.ts'
import { dottedNames } from '../../words.ts'
import { placeOf } from './bind-target.ts'
import { enter } from './enter.ts'
import { findBindings, findMembers, modulesOf } from './find-bindings.ts'
import { atMost, gather, isList, join } from './parts.ts'
import { charge, deeper, findHome, findOwnClass, moduleOf } from './scope.ts'
import type { Binding, Query, Scope } from './scope.ts'
import { HOLE, isWhole } from './text.ts'

/**
 * Finds what an expression leads to, in this file or another one of the pack: names, members of modules and classes,
 * items of namespaces and displays, what the pack's functions give. An instance counts as its class.
 */
export const targetsWithin = (node: Expression, scope: Scope, query: Query): Binding[] => {
  switch (node.kind) {
    case 'Name':
      return findBindings(scope, node.id) ?? []
    case 'Attribute':
      return membersOf(node.value, node.attr, scope, query)
    case 'Subscript':
      return itemsAt(node.value, node.index, scope, query)
    case 'Call':
      return targetsOfCall(node, scope, query)
    case 'Lambda': {
      const own = scope.file.lambdas.get(node)
      return own ? [{ kind: 'function', scope: own }] : []
    }
    case 'Await':
    case 'NamedExpr':
      return [{ kind: 'value', value: node.value, scope }]
    case 'IfExp':
      return [node.body, node.orelse].map((value) => ({ kind: 'value', value, scope }))
    case 'BoolOp':
      return node.values.slice(0, MAX_ITEMS).map((value) => ({ kind: 'value', value, scope }))
    default:
      return []
  }
}

/** Tables of functions are short. */
const MAX_ITEMS = 16

/** Follows targets to the last ones: a module, a class, a function, or a value of another kind. */
export const endsWithin = (node: Expression, scope: Scope, query: Query): Binding[] => {
  const targets = query.targets(node, scope)
  if (targets.length === 0) return [{ kind: 'value', value: node, scope }]
  return atMost(
    MAX_ENDS,
    gather(targets, (target) => endOf(target, query)),
  )
}

const MAX_ENDS = 16

const endOf = (binding: Binding, query: Query): Binding[] => {
  if (binding.kind === 'value') return query.ends(binding.value, binding.scope)
  if (binding.kind === 'parameter')
    return binding.value ? query.ends(binding.value, binding.scope) : []
  if (binding.kind === 'item') return itemsOf(binding, query).flatMap((item) => endOf(item, query))
  return [binding]
}

const membersOf = (value: Expression, name: string, scope: Scope, query: Query): Binding[] => {
  const owner = value.kind === 'Name' ? findOwnClass(scope, value.id) : undefined
  if (owner) return membersOfClass(owner, name, query)
  return join(
    assignedTo(value, name, scope),
    gather(query.ends(value, scope), (end) => membersOfEnd(end, name, query)),
  )
}

/** Finds what the file assigns to `value.name` as such. */
const assignedTo = (value: Expression, name: string, scope: Scope): Binding[] => {
  if (value.kind !== 'Name' || !scope.file.places.has(name)) return []
  const place = placeOf(value.id, name)
  return findHome(scope, place)?.names.get(place) ?? []
}

const membersOfEnd = (end: Binding, name: string, query: Query): Binding[] => {
  if (end.kind === 'module') return findMembers(end.scope, name)
  return end.kind === 'class' ? membersOfClass(end.scope, name, query) : []
}

/** Finds what a class binds, in its body or in any method to `self.<name>`; else what its bases do. */
const membersOfClass = (owner: Scope, name: string, query: Query, depth = 0): Binding[] => {
  const own = join(
    owner.names.has(name) ? (findBindings(owner, name) ?? []) : [],
    owner.attributes.get(name) ?? [],
  )
  const { parent } = owner
  if (own.length > 0 || !parent || depth > MAX_BASES) return own
  return owner.bases
    .slice(0, MAX_BASES)
    .flatMap((base) => query.ends(base, parent))
    .flatMap((end) =>
      end.kind === 'class'
        ? deeper(query, () => membersOfClass(end.scope, name, query, depth + 1), [])
        : [],
    )
    .slice(0, MAX_ENDS)
}

const MAX_BASES = 6

/** `globals()['x']`, `vars(helper)['x']`, `helper.__dict__['x']`, `sys.modules['helper']`, `{'x': run}['x']`. */
const itemsAt = (holder: Expression, at: Expression, scope: Scope, query: Query): Binding[] => {
  const names = query.names(holder, scope)
  if (names.includes('sys.modules')) return modulesNamed(at, scope, query)
  const key = query.constant(at, scope)
  if (key !== undefined) {
    if (names.includes('builtins.globals()')) return findBindings(moduleOf(scope), key) ?? []
    if (names.includes('builtins.locals()')) return findBindings(scope, key) ?? []
    const owner = namespaceOwner(holder, scope, query)
    if (owner) return membersOf(owner, key, scope, query)
  }
  return query.ends(holder, scope).flatMap((end) => itemsOfEnd(end, key))
}

const namespaceOwner = (holder: Expression, scope: Scope, query: Query): Expression | undefined => {
  if (holder.kind === 'Attribute' && holder.attr === '__dict__') return holder.value
  return holder.kind === 'Call' && query.names(holder.func, scope).includes('builtins.vars')
    ? holder.args[0]
    : undefined
}

/** Items of a display: the one of the key, or all when it isn't known. */
const itemsOfEnd = (end: Binding, key: string | undefined): Binding[] => {
  if (end.kind === 'module') return key === undefined ? [] : findMembers(end.scope, key)
  if (end.kind !== 'value') return []
  const { value, scope } = end
  return itemsOfDisplay(value, key)
    .slice(0, MAX_ITEMS)
    .map((item) => ({ kind: 'value', value: item, scope }))
}

const itemsOfDisplay = (node: Expression, key: string | undefined): Expression[] => {
  if (node.kind === 'Dict')
    return node.items
      .filter((item) => key === undefined || isText(item.key, key))
      .map(({ value }) => value)
  if (!isList(node) && node.kind !== 'Set') return []
  const item = key === undefined ? undefined : node.items.at(Number(key))
  return item ? [item] : node.items
}

const isText = (node: Expression | undefined, text: string): boolean =>
  node?.kind !== 'Constant' ||
  node.value === text ||
  (typeof node.value === 'bigint' && node.value.toString() === text)

/** Finds what a loop over a display binds. */
export const itemsOf = (binding: Binding & { kind: 'item' }, query: Query): Binding[] =>
  query.ends(binding.value, binding.scope).flatMap((end) => itemsOfEnd(end, undefined))

const targetsOfCall = (node: Call, scope: Scope, query: Query): Binding[] =>
  join(
    gather(query.names(node.func, scope), (name) => targetsOfFunction(name, node, scope, query)),
    join(
      targetsOfMethod(node, scope, query),
      gather(query.ends(node.func, scope), (end) => resultsOf(end, node, scope, query)),
    ),
  )

const targetsOfFunction = (name: string, node: Call, scope: Scope, query: Query): Binding[] => {
  const [first = keywordOf(node, 'name'), second, third] = node.args
  if (name === 'builtins.getattr' && first && second) {
    const key = query.constant(second, scope)
    const otherwise: Binding[] = third ? [{ kind: 'value', value: third, scope }] : []
    return key === undefined ? [] : [...membersOf(first, key, scope, query), ...otherwise]
  }
  if (IMPORTERS.has(name) && first) return modulesNamed(first, scope, query)
  if (PASSING.has(name) && first) return [{ kind: 'value', value: first, scope }]
  const path = LOADERS.has(name) ? (second ?? keywordOf(node, 'location')) : undefined
  const file = name === 'runpy.run_path' ? first : path
  return file ? filesNamed(file, scope, query) : []
}

/** They give the module that their first argument names. */
export const IMPORTERS: ReadonlySet<string> = new Set([
  'builtins.__import__',
  'importlib.import_module',
  'importlib.__import__',
  'runpy.run_module',
])

/** They give their first argument, or what does the same. */
const PASSING = dottedNames({
  builtins: 'classmethod staticmethod',
  functools: 'cache lru_cache partial',
  'importlib.util': 'module_from_spec',
})

/** They load a module from the file that their second argument names. */
const LOADERS = dottedNames({
  'importlib.util': 'spec_from_file_location',
  'importlib.machinery': 'SourceFileLoader',
  importlib: 'load_source',
})

export const keywordOf = (node: Call, name: string): Expression | undefined =>
  node.keywords.find((keyword) => keyword.name === name)?.value

/** `__package__ + '.helper'` is `.helper` as far as can be known, or `helper` somewhere. */
const modulesNamed = (node: Expression, scope: Scope, query: Query): Binding[] => {
  const from = moduleOf(scope)
  if (node.kind === 'Name' && node.id === '__name__') return [{ kind: 'module', scope: from }]
  return query.texts(node, scope).flatMap((text) => {
    const name = text.startsWith(`${HOLE}.`) ? text.slice(1) : text
    if (!isWhole(name)) return []
    const found = modulesOf(name, from)
    return found.length > 0 ? found : modulesOf(name.replace(/^\.+/, ''), from)
  })
}

const filesNamed = (node: Expression, scope: Scope, query: Query): Binding[] =>
  query
    .texts(node, scope)
    .filter((text) => /\.py$/i.test(text))
    .flatMap((text) => scope.file.modules.findFile(text, scope.file.path))
    .map((found) => ({ kind: 'module', scope: found }))

/** `table.get('x')`, and what a loader loads. */
const targetsOfMethod = ({ func, args: [first] }: Call, scope: Scope, query: Query): Binding[] => {
  if (func.kind !== 'Attribute') return []
  if (func.attr === 'load_module') return [{ kind: 'value', value: func.value, scope }]
  return first && /^(?:get|pop|__getitem__)$/.test(func.attr)
    ? itemsAt(func.value, first, scope, query)
    : []
}

/** Finds what a function of the pack returns, its parameters standing for what this call passes. */
const resultsOf = (end: Binding, node: Call, scope: Scope, query: Query): Binding[] => {
  if (end.kind === 'class') return [end]
  if (end.kind !== 'function' || end.scope.returns.length === 0) return []
  charge(query, Math.ceil(end.scope.names.size / 8))
  const own = enter(end.scope, node, scope)
  return own.returns.slice(0, MAX_RETURNS).map((value) => ({ kind: 'value', value, scope: own }))
}

const MAX_RETURNS = 16
