import { assignedNames } from '../execute/assigned-names.ts'
import { raise, raiseDoubtful } from '../operate/raise.ts'
import { recordWriting } from '../operate/written.ts'
import type { DictValue, ModuleValue, Runtime, Scope, Value } from '../types.ts'
import { makeNamespaceDict, makeUnknown, orElse } from '../values/make-value.ts'
import type { Global, Nonlocal } from '../../python/ast.ts'

/** The value of a name. Missing: raises NameError if the module's names are all known, else an unknown. */
export function lookUpName(rt: Runtime, scope: Scope, name: string): Value {
  const found = orElse(findName(scope, name), () => rt.builtins.get(name))
  if (found !== undefined) return found
  const { module } = scope
  if (!isComplete(module) || module.lost.has(name)) return makeUnknown(name)
  // The machinery of imports sets a few more.
  if (/^__\w+__$/.test(name)) return makeUnknown(name)
  const isSure = rt.state.guesses === 0 || !mayBeBound(rt, scope, name)
  const raiseName = isSure ? raise : raiseDoubtful
  return raiseName(rt, 'NameError', `name '${name}' is not defined`)
}

/** True where a statement binds the name: it may stand in a branch that Python took, and we did not. */
function mayBeBound(rt: Runtime, scope: Scope, name: string): boolean {
  const body = rt.parser.parsed.get(scope.module.file ?? '')?.body ?? []
  if (assignedNames(rt, body).includes(name)) return true
  for (let at: Scope | undefined = scope; at; at = at.parent) {
    const node = at.frame?.function.node
    if (node?.kind === 'FunctionDef' && assignedNames(rt, node.body).includes(name)) return true
  }
  return false
}

export function findName(scope: Scope, name: string): Value | undefined {
  for (let at: Scope | undefined = scope; at; at = at.parent) {
    const value = at.names.get(name)
    if (value !== undefined) return value
    const declared = at.declared?.get(name)
    if (declared) return declared.names.get(name)
  }
  return undefined
}

/** Binds a name where it belongs: `global` and `nonlocal` are heeded, comprehensions have names of their own. */
export function bindName(scope: Scope, name: string, value: Value): void {
  const target = scope.declared?.get(name) ?? scope
  target.names.set(name, value)
}

/** `name := value` binds in the function around a comprehension. */
export function bindNameOutside(scope: Scope, name: string, value: Value): void {
  let at = scope
  while (at.kind === 'comprehension' && at.parent) at = at.parent
  bindName(at, name, value)
}

/** Scope of a module's own statements. */
export function moduleScope(module: ModuleValue): Scope {
  return {
    kind: 'module',
    names: module.namespace,
    parent: undefined,
    module,
    declared: undefined,
    frame: undefined,
    owner: undefined,
  }
}

/** Functions and comprehensions in a class body don't see its names. */
export function closureScope(scope: Scope): Scope {
  return scope.kind === 'class' && scope.parent ? scope.parent : scope
}

/** `globals()`: one live dict for each module. */
export function globalsOf(module: ModuleValue): DictValue {
  module.dict ??= makeNamespaceDict(module.namespace, !module.complete)
  return module.dict
}

export function isComplete(module: ModuleValue): boolean {
  return module.complete && module.dict?.rest !== true
}

/** `global` and `nonlocal`: from here on the names belong to another scope. */
export function declareNames(rt: Runtime, node: Global | Nonlocal, scope: Scope): undefined {
  if (scope.kind === 'module') return
  scope.declared ??= new Map()
  for (const name of node.names) {
    const target =
      node.kind === 'Global' ? moduleScope(scope.module) : findFunctionScope(scope, name)
    if (!target) continue
    scope.declared.set(name, target)
    recordWriting(rt, target.names, name)
  }
}

/** The nearest function around that has the name; else the nearest function, where it will be bound. */
function findFunctionScope(scope: Scope, name: string): Scope | undefined {
  let nearest: Scope | undefined
  for (let at = scope.parent; at; at = at.parent) {
    if (at.kind !== 'function') continue
    nearest ??= at
    if (at.names.has(name)) return at
    const declared = at.declared?.get(name)
    if (declared) return declared
  }
  return nearest
}

/**
 * Returns the cost of one expression or statement. A line of the library's Python makes dozens where a native makes
 * none, so that they count little: the clock ends what they do without end.
 */
export function stepOf(scope: Scope): number {
  return scope.module.home === 'pack' ? 1 : 1 / 256
}
