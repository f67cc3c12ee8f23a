import type { Budget, BudgetName } from './budget.ts'
import type { HostFacts } from './host-facts.ts'
import type { CallArguments } from './values/call-arguments.ts'
import type {
  BaseValue,
  ClassValue,
  DictValue,
  HashKey,
  IteratorValue,
  Kwargs,
  ModuleValue,
  Origin,
  Truth,
  UnknownValue,
  Value,
} from './values/value.ts'
import type { RemovedEntries } from './values/removed-entries.ts'
import type { VirtualFiles } from './modules/virtual-files.ts'
import type { Expression, Module, Statement } from '../python/ast.ts'
import type { Scope } from './values/scope.ts'

/**
 * What interpreted code and native functions can do: one object, made for one pack. Its operations follow Python's, with
 * two differences everywhere: what can't be known is an unknown value (or an undefined answer), and a fault is raised
 * only where `raise` and `raiseIfHandled` say.
 */
export interface Runtime {
  budget: Budget
  files: VirtualFiles
  facts: HostFacts
  /** `sys.modules`: modules of the pack and of the library that were imported, by dotted name. */
  modules: Map<string, Value>
  /** `sys.path`, a live list value. Entries in the pack are searched for absolute imports. */
  sysPath: Value
  /** The names every module sees. */
  builtins: Map<string, Value>
  /** A builtin class: `str`, `dict`, `type`, `ImportError`, `NoneType`, `function`, `module`, `generator`. */
  builtinClass(name: string): ClassValue

  // ------------------------------------------------------------------ calls
  /** Calls anything callable. An unknown callee gives an unknown. */
  call(callee: Value, args: Value[], kwargs?: Kwargs): Value
  callWith(callee: Value, args: CallArguments): Value
  /** Calls a method by name; undefined if the value certainly has none. */
  callMethod(value: Value, name: string, args: Value[], kwargs?: Kwargs): Value | undefined
  /** `type(self).__name__(self, ...)` of a class of the pack or library, for operators; builtin types give undefined. */
  callSpecial(value: Value, name: string, args: Value[]): Value | undefined
  isCallable(value: Value): Truth

  // -------------------------------------------------------------- attributes
  /** `value.name`. Missing: raises on a completely read module of the pack, else an unknown. */
  getAttribute(value: Value, name: string): Value
  /** The attribute; an unknown if it can't be judged; undefined if there is certainly none. Never raises. */
  findAttribute(value: Value, name: string): Value | undefined
  hasAttribute(value: Value, name: string): Truth
  setAttribute(value: Value, name: string, to: Value): void
  deleteAttribute(value: Value, name: string): void
  /** Attribute as it stands in the class and its bases, no descriptor applied; an unknown from an unknown base. */
  findInClass(cls: ClassValue, name: string): Value | undefined
  /** Sorted names that `dir(value)` gives; undefined if they can't be known. */
  listAttributes(value: Value): string[] | undefined

  // ------------------------------------------------------------------- items
  getItem(value: Value, key: Value): Value
  setItem(value: Value, key: Value, to: Value): void
  deleteItem(value: Value, key: Value): void
  contains(container: Value, item: Value): Truth

  // --------------------------------------------------------------- iteration
  /** Reads everything, within the budget. `rest`: there may be more. An unknown has no items and a rest. */
  readItems(value: Value): { items: Value[]; rest: boolean }
  /** An iterator over the value; undefined if it is an unknown or can't be iterated. */
  iterate(value: Value): IteratorValue | undefined
  /** `len(value)`; undefined if it can't be known. */
  length(value: Value): number | undefined

  // --------------------------------------------------- truth, comparing, text
  truth(value: Value): Truth
  equals(a: Value, b: Value): Truth
  identical(a: Value, b: Value): Truth
  /** `a < b`. */
  less(a: Value, b: Value): Truth
  /** Sorts as `sorted`; undefined if two items can't be compared. */
  sort(items: Value[], key?: Value, reverse?: boolean): Value[] | undefined
  /** What equal keys share; undefined if the value can't be hashed. An unknown is its own key. */
  hashKey(value: Value): HashKey | undefined
  /** `str(value)`; undefined if it can't be known. */
  str(value: Value): string | undefined
  repr(value: Value): string | undefined
  format(value: Value, spec: string): string | undefined
  binary(op: string, left: Value, right: Value): Value

  // ----------------------------------------------------------------- classes
  typeOf(value: Value): BaseValue
  /** `cls` may be a class, an unknown, or a tuple (or `A | B`) of them. */
  isInstance(value: Value, cls: Value): Truth
  isSubclass(value: Value, cls: Value): Truth
  /** As a class statement does it: metaclass, `__set_name__`, `__init_subclass__`. `kwargs` are the class keywords. */
  makeClass(
    name: string,
    bases: Value[],
    namespace: Map<string, Value>,
    options?: { kwargs?: Kwargs; module?: string; qualname?: string },
  ): Value

  // ------------------------------------------------------------------ faults
  /** Raises a builtin exception by name, or the exception given. */
  raise(exception: string | Value, message?: string): never
  /**
   * Raises only if a `try` is running that has a handler for it; else gives undefined, and the result is unknown. For
   * faults that are more often our ignorance than the pack's: a value that doesn't parse, a file that is missing.
   */
  raiseIfHandled(exception: string, message?: string): undefined
  /**
   * The same, but only for a handler that names the exception or a base of it other than Exception: for missing keys,
   * attributes and items.
   */
  raiseIfExpected(exception: string, message?: string): undefined
  unknown(name: string, origin?: Origin): UnknownValue
  /** The unknown result of a call. */
  unknownCall(callee: Value, args: Value[], kwargs?: Kwargs): UnknownValue

  // ----------------------------------------------------------------- modules
  /**
   * Imports by absolute dotted name and gives the module itself (not the first package, as `import a.b` would). Raises
   * ImportError for a module missing in the pack; foreign names give unknowns.
   */
  importModule(name: string): Value
  /** `importlib.import_module(".a.b", package)`: the absolute name. Undefined above the top. */
  resolveName(name: string, packageName: string, level: number): string | undefined
  /** Where a module of the pack would be read from, without reading it. */
  findModule(name: string): { file: string; isPackage: boolean } | undefined
  /** A new, empty module of the pack for that file, not yet in `modules`. */
  makeModule(name: string, file: string, isPackage: boolean): ModuleValue
  /** Runs the file's statements in the module. */
  runModule(module: ModuleValue): void
  /** The module whose code is running. */
  currentModule(): ModuleValue
  /** The scope that called the native function now running: for `globals`, `locals`, `super`. */
  currentScope(): Scope
  /** Parses a file of the pack, once; undefined if it can't be read. */
  parseFile(file: string): Module | undefined
  /** `__all__`, else the names without leading underscore. */
  publicNames(module: ModuleValue): string[]

  // -------------------------------------------------------------- containers
  getEntry(dict: DictValue, key: Value): Value | undefined
  setEntry(dict: DictValue, key: Value, value: Value): void
  makeDict(entries: Iterable<readonly [Value, Value]>): DictValue
  makeSet(items: Iterable<Value>, frozen?: boolean): Value

  // ------------------------------------- of the interpreter itself (the library has no need of them)
  evaluate(node: Expression, scope: Scope): Value
  /** The same for whole expressions of a statement: a fault of ours (the stack, mostly) makes them unknown. */
  evaluateSafely(node: Expression, scope: Scope): Value
  /** Runs a block. */
  execute(body: readonly Statement[], scope: Scope): Completion
  /** Binds a target: a name, attribute, item, or a list of targets. */
  assign(target: Expression, value: Value, scope: Scope): void
  state: RunState
}

/** How a block ended. */
export type Completion = undefined | 'break' | 'continue' | { returned: Value }

/** What changes while code runs. */
export interface RunState {
  scope: Scope
  depth: number
  nesting: number
  /** Handlers of the `try` statements that are running, outermost first. */
  handlers: { types: (Expression | undefined)[]; scope: Scope }[]
  /** Exceptions that handlers are dealing with, for a bare `raise`. */
  handled: Value[]
  /** Loops around the running statement, within its function, whose number of rounds is unknown. */
  repeating: number
  /** The round of the innermost loop met a `break` under an undecided test. */
  maybeBroken: boolean
  /** What an undecided branch took out of dicts; undefined outside of one, and in what it calls or imports. */
  removed: RemovedEntries | undefined
  /** Names that a block may bind, computed once for each block. */
  assigned: WeakMap<object, readonly string[]>
  /** Numbers given out for `id()`. */
  identities: WeakMap<object, number>
  lastIdentity: number
  reasons: Map<string, Reason>
  limitsMet: Set<BudgetName>
  notes: Note[]
}

/** Why a result may be incomplete. */
export interface Reason {
  /** `unparsable`, `unresolved`, `budget_steps`, `budget_time`, ... */
  code: string
  /** Path or name that it is about. */
  detail: string
}

/** A raise that cost a statement of a module, or a fault of our own that cost an expression. */
export interface Note {
  kind: 'raise' | 'fault'
  file: string
  line: number
  message: string
}
