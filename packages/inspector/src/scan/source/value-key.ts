import type { Attribute, Call, Expression, JoinedStr } from '../../python/ast.ts'
import { SAME_PATH } from './call-texts.ts'
import { findBindings } from './find-bindings.ts'
import { findHome, findOwnClass, type Scope } from './scope.ts'
import { namesOf } from './values.ts'

/**
 * One text for expressions that mean the same value within a file: `p`, `str(p)` and what `p` was assigned. Undefined for
 * those of which nothing can be said.
 */
export const valueKey = (node: Expression, scope: Scope, depth = 0): string | undefined => {
  scope.effort.steps -= 1
  if (depth > MAX_DEPTH || scope.effort.steps <= 0) return undefined
  const key: KeyOf = (part) => valueKey(part, scope, depth + 1)
  switch (node.kind) {
    case 'Constant':
      return typeof node.value === 'string' ? `'${node.value.slice(0, 500)}'` : undefined
    case 'Name':
      return keyOfName(node.id, scope, depth)
    case 'Attribute':
      return keyOfAttribute(node, scope, key)
    case 'Call':
      return keyOfCall(node, scope, key)
    case 'BinOp':
      return node.rights.length < MAX_PARTS && node.rights.every(({ op }) => op === '/')
        ? joined([node.left, ...node.rights.map(({ value }) => value)].map(key))
        : undefined
    case 'JoinedStr':
      return keyOfFormatted(node, key)
    default:
      return undefined
  }
}

const MAX_DEPTH = 12

type KeyOf = (part: Expression) => string | undefined

const keyOfName = (id: string, scope: Scope, depth: number): string | undefined => {
  const home = findHome(scope, id)
  if (!home) return `?${id}`
  const [binding, ...others] = findBindings(scope, id) ?? []
  const followed =
    others.length === 0 && binding?.kind === 'value'
      ? valueKey(binding.value, binding.scope, depth + 1)
      : undefined
  return followed ?? `${home.id}:${id}`
}

/** The name of an open file is the path it was opened by. */
const keyOfAttribute = (node: Attribute, scope: Scope, key: KeyOf): string | undefined => {
  const owner = node.value.kind === 'Name' ? findOwnClass(scope, node.value.id) : undefined
  if (owner) return `${owner.id}.${node.attr}`
  const value = key(node.value)
  return node.attr === 'name' || value === undefined ? value : `${value}.${node.attr}`
}

const keyOfCall = (node: Call, scope: Scope, key: KeyOf): string | undefined => {
  const names = namesOf(node.func, scope)
  if (names.some((name) => JOINS.has(name))) return joined(node.args.slice(0, MAX_PARTS).map(key))
  if (names.some((name) => SAME_PATH.has(name) || name === 'builtins.open'))
    return node.args[0] && key(node.args[0])
  return node.func.kind === 'Attribute' && SAME_METHODS.has(node.func.attr)
    ? key(node.func.value)
    : undefined
}

const JOINS = new Set(['os.path.join', 'pathlib.Path', 'pathlib.PurePath'])

const SAME_METHODS = new Set(['absolute', 'as_posix', 'expanduser', 'resolve', 'strip'])

const joined = (keys: (string | undefined)[]): string | undefined => {
  const key = keys.includes(undefined) ? undefined : keys.join('/')
  return key !== undefined && key.length < MAX_KEY ? key : undefined
}

const MAX_PARTS = 20
const MAX_KEY = 2000

/** `f"{p}"`. */
const keyOfFormatted = (node: JoinedStr, key: KeyOf): string | undefined => {
  const values = node.values.filter((value) => value !== '')
  const [only] = values
  return values.length === 1 && only !== undefined && typeof only !== 'string'
    ? key(only.value)
    : undefined
}
