import type { Arguments, Call, Expression, Lambda } from '../../python/ast.ts'

/** A place where names are bound: a module, class, function (lambda) or comprehension. */
export interface Scope {
  /** Number of the scope within the pack, for keys of values. */
  id: number
  kind: 'module' | 'class' | 'function' | 'comprehension'
  parent: Scope | undefined
  names: Map<string, Binding[]>
  /** For a class: what its methods assign to `self.<name>`. */
  attributes: Map<string, Binding[]>
  /** Names declared `global` or `nonlocal` here. */
  outer: Set<string>
  /** For a class. */
  bases: Expression[]
  /** For a function. */
  parameters: Arguments | undefined
  /** For a function: what it returns or yields. */
  returns: Expression[]
  /** For a function: true when what it is given may do harm; absent until it was asked for. */
  mayHarm?: boolean
  /** For a function: the calls in its body. */
  calls: { call: Call; scope: Scope }[]
  /** For a method: its first parameter, which stands for the class's instance. */
  self: string | undefined
  /** For a module: modules whose names a star import brought in. */
  stars: string[]
  /** For a module: what the stars brought in, by name, as far as it was asked for. */
  starred: Map<string, Binding[]>
  /** One for all scopes of a file. */
  file: FileContext
  /** Effort that questions about values may still cost; one for all scopes of a file. */
  effort: Effort
}

export interface FileContext {
  path: string
  modules: PackModules
  lambdas: Map<Lambda, Scope>
  /** Attributes that the file assigns to those of its names which are no `self`. */
  places: Set<string>
}

/** The pack's own modules, each read when it is first asked for. */
export interface PackModules {
  /**
   * Module scopes that a dotted name may mean in the file of this path; a relative name starts with a dot. Several when
   * only the last parts of the name fit, as `sys.path` may lead anywhere.
   */
  find(name: string, from: string): Scope[]
  /** Those of a file that is known by its path or the end of it. */
  findFile(path: string, from: string): Scope[]
}

export interface Effort {
  steps: number
}

/** The most that a file of 60 benign packs and libraries (159 MB) needs is 602,000; each takes some microseconds. */
const FILE_STEPS = 3_000_000

/** Meaning of a name, with the scope in which the expression is to be read. */
export type Binding =
  | ImportBinding
  /** A module of the pack. */
  | { kind: 'module'; scope: Scope }
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

export interface ImportBinding {
  kind: 'import'
  /** Dotted name of a module or of something in it; a relative one starts with a dot. */
  name: string
  scope: Scope
  /** Bindings of that name in the pack's modules; absent until they were asked for. */
  found?: Binding[]
}

export const makeScope = (
  { id, kind, file }: Pick<Scope, 'id' | 'kind' | 'file'>,
  parent: Scope | undefined,
  self?: string,
): Scope => ({
  id,
  kind,
  parent,
  file,
  names: new Map(),
  attributes: new Map(),
  outer: new Set(),
  bases: [],
  parameters: undefined,
  returns: [],
  calls: [],
  self,
  stars: [],
  starred: new Map(),
  effort: parent?.effort ?? { steps: FILE_STEPS },
})

export const bind = (bindings: Map<string, Binding[]>, name: string, binding: Binding): void => {
  const known = bindings.get(name)
  if (!known) bindings.set(name, [binding])
  // A name bound a thousand times adds nothing, and each of them costs time at every use.
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

/** The scope in which a name that is read here is bound. A class body is no enclosing scope for what is defined in it. */
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

/**
 * One question about a value. Its steps bound the cost of the result with all questions that it leads to, so that a
 * hostile file can't multiply work. Names and texts ask each other through it.
 */
export interface Query {
  steps: number
  depth: number
  /** Effort that all questions about the file may cost. */
  effort: Effort
  names(node: Expression, scope: Scope): string[]
  texts(node: Expression, scope: Scope): string[]
  /** Bindings that a value leads to; see `targetsWithin`. */
  targets(node: Expression, scope: Scope): Binding[]
  /** The last bindings that targets lead to. */
  ends(node: Expression, scope: Scope): Binding[]
  /** The text of a value that can be only one and is wholly known. */
  constant(node: Expression, scope: Scope): string | undefined
}

/** Real code needs a few dozen steps. */
export const MAX_STEPS = 1500

const MAX_DEPTH = 40

/** Runs one step deeper; `otherwise` when the effort is spent. */
export const deeper = <T>(query: Query, run: () => T, otherwise: T): T => {
  if (query.steps <= 0 || query.depth >= MAX_DEPTH || query.effort.steps <= 0) return otherwise
  charge(query, 1)
  query.depth += 1
  const result = run()
  query.depth -= 1
  return result
}

export const charge = (query: Query, steps: number): void => {
  query.steps -= steps
  query.effort.steps -= steps
}
