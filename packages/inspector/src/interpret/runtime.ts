import type { Budget, BudgetName } from './budget.ts'
import type { HostFacts } from './host-facts.ts'
import type { LibraryRegistry } from './modules/library-registry.ts'
import type { FileParser } from './modules/parse-files.ts'
import type { VirtualFiles } from './modules/virtual-files.ts'
import type { AddedEntries, RemovedEntries } from './operate/removed-entries.ts'
import type { Scope } from './values/scope.ts'
import type { ClassValue, ListValue, Value } from './values/value.ts'
import type { Expression } from '../python/ast.ts'

/**
 * The state of one run over one pack; what can be done with it are functions that take it first. They follow Python, with
 * two differences everywhere: what can't be known is an unknown value (or an undefined result), and an error is raised
 * only where `raise`, `raiseIfHandled` and `raiseIfExpected` say.
 */
export interface Runtime {
  budget: Budget
  files: VirtualFiles
  parser: FileParser
  facts: HostFacts
  library: LibraryRegistry
  /** Names under which the pack may import itself, without case and punctuation. */
  ownNames: ReadonlySet<string>
  /** `sys.modules`: modules of the pack and of the library that were imported, by dotted name. */
  modules: Map<string, Value>
  /** `sys.path`, live. Entries in the pack are searched for absolute imports. */
  sysPath: ListValue
  /** The names every module sees. */
  builtins: Map<string, Value>
  /** A builtin class: `str`, `dict`, `type`, `ImportError`, `NoneType`, `function`, `module`, `generator`. */
  builtinClass(name: string): ClassValue
  state: RunState
}

/** Way in which a block ended. */
export type Completion = undefined | 'break' | 'continue' | { returned: Value }

/** State that changes while code runs. */
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
  /** Entries that an undecided branch took out of dicts; undefined outside of one, and in what it calls or imports. */
  removed: RemovedEntries | undefined
  /** Entries that an undecided branch put into dicts; undefined outside of one, and in what it imports. */
  added: AddedEntries | undefined
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

/** A raise that cost a statement of a module, or an error of our own that cost an expression. */
export interface Note {
  kind: 'raise' | 'error'
  file: string
  line: number
  message: string
}
