import type { Expression } from '../../python/ast.ts'

/** A place where names are bound: a module, class, function (lambda) or comprehension. */
export interface Scope {
  /** Number of the scope within its file, for keys of values. */
  id: number
  kind: 'module' | 'class' | 'function' | 'comprehension'
  parent: Scope | undefined
  names: Map<string, Binding[]>
  /** Of a class: what its methods assign to `self.<name>`. */
  attributes: Map<string, Binding[]>
  /** Names declared `global` or `nonlocal` here. */
  outer: Set<string>
  /** Of a function: what it returns or yields. */
  returns: Expression[]
  /** Of a method: its first parameter, which stands for the class's instance. */
  self: string | undefined
  /** Of a module: modules whose names a star import brought in. */
  stars: string[]
  /** What questions about values may still cost; one for all scopes of a file. */
  effort: Effort
}

export interface Effort {
  steps: number
}

/** The most that a file of 60 benign packs and libraries (159 MB) needs is 602,000; each takes some microseconds. */
const FILE_STEPS = 3_000_000

/** What a name stands for, with the scope in which the expression is to be read. */
export type Binding =
  /** Dotted name of a module or of something in it; a relative one starts with a dot. */
  | { kind: 'import'; name: string }
  /** `name = value`, `with value as name`, `name := value`. */
  | { kind: 'value'; value: Expression; scope: Scope }
  /** `name += value`. */
  | { kind: 'added'; value: Expression; scope: Scope }
  /** An item of value: the target of a loop, or of an unpacking. */
  | { kind: 'item'; value: Expression; scope: Scope }
  | { kind: 'parameter'; value: Expression | undefined; scope: Scope }
  /** A function of this file; `scope` is its own. */
  | { kind: 'function'; scope: Scope }
  | { kind: 'class'; scope: Scope }
  | { kind: 'unknown' }

export const makeScope = (
  id: number,
  kind: Scope['kind'],
  parent: Scope | undefined,
  self?: string,
): Scope => ({
  id,
  kind,
  parent,
  names: new Map(),
  attributes: new Map(),
  outer: new Set(),
  returns: [],
  self,
  stars: [],
  effort: parent?.effort ?? { steps: FILE_STEPS },
})

export const bind = (bindings: Map<string, Binding[]>, name: string, binding: Binding): void => {
  const known = bindings.get(name)
  if (!known) bindings.set(name, [binding])
  // A name bound a thousand times tells nothing more, and each of them costs time at every use.
  else if (known.length < MAX_BINDINGS) known.push(binding)
}

const MAX_BINDINGS = 16

/** Binds a name where its scope says that it lives. */
export const bindName = (scope: Scope, name: string, binding: Binding): void =>
  bind(scope.outer.has(name) ? outerHome(scope, name).names : scope.names, name, binding)

const outerHome = (scope: Scope, name: string): Scope => {
  let home = scope.parent ?? scope
  while (home.parent && !home.names.has(name)) home = home.parent
  return home
}

/**
 * What a name may stand for where it is read; undefined for one that the file doesn't bind: a builtin or an unknown. A
 * class body is no enclosing scope for what is defined in it.
 */
export const findBindings = (scope: Scope, name: string): Binding[] | undefined =>
  findHome(scope, name)?.names.get(name)

/** The scope in which a name that is read here is bound. */
export const findHome = (scope: Scope, name: string): Scope | undefined => {
  for (let at: Scope | undefined = scope; at; at = at.parent)
    if ((at.kind !== 'class' || at === scope) && at.names.has(name)) return at
  return undefined
}

/** The class whose method reads `self.<attribute>` through this name. */
export const findOwnClass = (scope: Scope, name: string): Scope | undefined => {
  for (let at: Scope | undefined = scope; at; at = at.parent) {
    if (at.kind === 'function' && at.self === name) return at.parent
    if (at.kind === 'function' && at.names.has(name)) return undefined
  }
  return undefined
}

export const moduleOf = (scope: Scope): Scope => {
  let at = scope
  while (at.parent) at = at.parent
  return at
}
