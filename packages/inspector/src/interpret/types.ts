import type { Expression, FunctionDef, Lambda } from '../python/ast.ts'
import type { Budget, BudgetName } from './budget.ts'
import type { Code } from './code.ts'
import type { HostFacts } from './host-facts.ts'
import type { FileParser } from './modules/parse-files.ts'
import type { VirtualFiles } from './modules/virtual-files.ts'
import type { AddedEntries, Removed } from './operate/set-item.ts'
import type { Written } from './operate/written.ts'

/**
 * A Python value. None is null, bool is boolean, int is bigint, float is number, str is string (JavaScript strings:
 * everything that counts characters has to count code points); all else is an object with a `kind`.
 */
export type Value = null | boolean | bigint | number | string | ObjectValue

export type ObjectValue =
  | BytesValue
  | ListValue
  | TupleValue
  | SetValue
  | DictValue
  | DictView
  | RangeValue
  | SliceValue
  | IteratorValue
  | ClassValue
  | InstanceValue
  | FunctionValue
  | NativeValue
  | MethodValue
  | ClassMethodValue
  | StaticMethodValue
  | PropertyValue
  | SuperValue
  | ModuleValue
  | SingletonValue
  | UnknownValue

/** Three-valued truth: undefined can't be decided. */
export type Truth = boolean | undefined

export interface BytesValue {
  kind: 'bytes'
  data: Uint8Array
}

/** Further unknowns of items, so that as a whole they may be none of what the pack makes. */
interface Undecided {
  /** Those that not all branches of an undecided test put there. */
  maybe?: Set<Value>
  /** Those that may stand in each other's place. */
  unordered?: Set<Value> | undefined
}

/** `rest`: the items are known, but more may follow. */
export interface ListValue extends Undecided {
  kind: 'list'
  items: Value[]
  rest: boolean
}

export interface TupleValue extends Undecided {
  kind: 'tuple'
  items: Value[]
  rest: boolean
}

/**
 * Key that equal values share (1, 1.0 and True; two equal tuples): made by `Runtime.hashKey`. For plain text, ints,
 * None and objects compared by identity it is the value itself.
 */
export type HashKey = null | bigint | number | string | object

/** `items` runs from hash key to item. */
export interface SetValue {
  kind: 'set'
  frozen: boolean
  items: Map<HashKey, Value>
  rest: boolean
}

/**
 * Insertion order is that of `values`. `keys` has the original key where it is not its own hash key. Because text is
 * its own hash key, the names of a module, class or instance can stand in `values`: that is what `globals()` and
 * `__dict__` give. Use the functions of dict.ts.
 */
export interface DictValue {
  kind: 'dict'
  values: Map<HashKey, Value>
  keys: Map<HashKey, Value> | undefined
  /** More entries may exist, under unknown keys. */
  rest: boolean
  /** Hash keys of entries that not all branches of an undecided test put there. */
  maybe?: Set<HashKey>
  /** The environment: the host's may have what ours lacks. */
  isAssumed?: true
}

/** `d.keys()`, `d.values()`, `d.items()`: live. */
export interface DictView {
  kind: 'view'
  of: 'keys' | 'values' | 'items'
  dict: DictValue
}

export interface RangeValue {
  kind: 'range'
  start: bigint
  stop: bigint
  step: bigint
}

export interface SliceValue {
  kind: 'slice'
  start: Value
  stop: Value
  step: Value
}

/** An iterator of any sort. `next` gives undefined at the end; then `rest` says whether more may have followed. */
export interface IteratorValue extends Undecided {
  kind: 'iterator'
  /** Name of its type: `generator`, `zip`, `list_iterator`. */
  type: string
  next: () => Value | undefined
  rest: boolean
  /** Return value of a generator, once it was read to its end. */
  returned?: Value
  /** Runs a generator that has not begun with a block in the place of its first `yield`. */
  runAround?: (block: Block) => void
}

/** A block that gets what a generator yields. */
export type Block = (yielded: Value) => void

/** Place where a class or module was defined. */
type Home = 'pack' | 'library'

export interface ClassValue {
  kind: 'class'
  name: string
  qualname: string
  /** Dotted name of the module of its class statement, `builtins` for builtin types. */
  module: string
  home: Home
  bases: BaseValue[]
  /** C3 order, itself first, `object` last. Unknown bases stand in it where they were written. */
  mro: BaseValue[]
  namespace: Map<string, Value>
  metaclass: BaseValue
  /** Classes made with this one among their bases, in order. */
  subclasses: ClassValue[]
  /** The class or one of its bases keeps its content in `InstanceValue.payload` as a value of this builtin type. */
  payload: 'str' | 'int' | 'float' | 'bytes' | 'list' | 'tuple' | 'set' | 'dict' | undefined
  /** The classes of which it is one, itself first: branches of an undecided test chose them. */
  oneOf?: readonly Value[]
}

export type BaseValue = ClassValue | UnknownValue

export interface InstanceValue {
  kind: 'instance'
  cls: ClassValue
  attributes: Map<string, Value>
  /** Content of an instance of a subclass of a builtin type: a string for `class A(str)`, a DictValue for `class A(dict)`. */
  payload: Value | undefined
  /** State of a library class, private to it. */
  native: unknown
}

export interface FunctionValue {
  kind: 'function'
  name: string
  qualname: string
  node: FunctionDef | Lambda
  module: ModuleValue
  /** Scope in which it was defined; the bodies of classes between are left out. */
  scope: Scope
  /** Default values by parameter. */
  defaults: Map<string, Value>
  attributes: Map<string, Value>
  /** The class whose body defines it, for `super()`; filled in when that class exists. */
  owner: { cls: ClassValue | undefined } | undefined
  /** Calls that are running now. */
  active: number
  /** Calls until now. */
  calls: number
  /** The undecided branch in which the first of those is that are running, and calls from other branches within it. */
  branch?: AddedEntries | undefined
  unsure: number
  /** The functions of which it is one, as of a class. */
  oneOf?: readonly Value[]
}

export type Kwargs = ReadonlyMap<string, Value>

/**
 * Body of a native function. Undefined means that the result can't be computed: the caller sees an unknown that carries
 * name and arguments. So a native function does not raise for arguments it does not understand.
 */
export type NativeCall = (rt: Runtime, args: Value[], kwargs: Kwargs) => Value | undefined

export interface NativeValue {
  kind: 'native'
  /** Dotted, for unknown results: `os.path.join`. */
  name: string
  call: NativeCall
  /** Found on a class, it becomes a method of the instance. */
  binds: boolean
  /** Called instead when `*unknown` or `**unknown` was passed: there are more arguments than those given. */
  callWithRest: NativeCall | undefined
  attributes: Map<string, Value> | undefined
}

export interface MethodValue {
  kind: 'method'
  function: Value
  self: Value
}

interface ClassMethodValue {
  kind: 'classmethod'
  function: Value
}

export interface StaticMethodValue {
  kind: 'staticmethod'
  function: Value
}

export interface PropertyValue {
  kind: 'property'
  get: Value
  set: Value
  delete: Value
}

/** `super(cls, object)`: attributes of the classes after `cls` in the order of `object`'s class. */
export interface SuperValue {
  kind: 'super'
  cls: ClassValue
  object: Value
}

export interface ModuleValue {
  kind: 'module'
  /** Dotted name, the module's `__name__`. */
  name: string
  home: Home
  /** Absolute path in the virtual file system. */
  file: string | undefined
  isPackage: boolean
  namespace: Map<string, Value>
  /** Every name is known: read without errors, no star import of an unknown. */
  complete: boolean
  /** The number of its statement that is running now, from 1; 0 if none is. */
  running: number
  /** Names of statements that a raise cost. */
  lost: Set<string>
  /** Dict that `globals()` and `__dict__` gave; a rest in it means unknown names. */
  dict: DictValue | undefined
}

export interface SingletonValue {
  kind: 'singleton'
  name: 'Ellipsis' | 'NotImplemented'
}

/**
 * Source of an unknown: the host's own modules, an installed package, the standard library, the machine (its
 * folders, clock, devices), or the pack itself (a part not understood, a missing key, a budget spent).
 */
export type Origin = 'host' | 'third-party' | 'standard-library' | 'machine' | 'pack'

export interface UnknownValue {
  kind: 'unknown'
  /** Dotted: `torch.cuda.is_available()`; a call ends in `()`, an item in `[]`. Cut at 200 characters. */
  name: string
  origin: Origin
  /** The call whose result it is. */
  call: UnknownCall | undefined
  /** Its truth, where that is known although the value is not. */
  truth: Truth
  /** The values of which it is one, known ones first: branches of an undecided test chose them. */
  oneOf?: readonly Value[]
  /** A module: no class, and nothing to call. */
  isModule?: true
  /** The value of which it is an item or attribute. */
  from?: Value
}

export interface UnknownCall extends CallArguments {
  callee: Value
}

export interface CallArguments {
  args: Value[]
  kwargs: Kwargs
  /** `*unknown` or `**unknown` was passed: there may be more. */
  rest: boolean
}

/**
 * Names while code runs. A class body sees its own names, then those of the functions around it; functions
 * defined in it skip it (`parent` of their scope is the scope around the class).
 */
export interface Scope {
  kind: 'module' | 'class' | 'function' | 'comprehension'
  names: Map<string, Value>
  parent: Scope | undefined
  module: ModuleValue
  /** Names declared `global` or `nonlocal` here, and the scope they stand for. */
  declared: Map<string, Scope> | undefined
  /** Set in the scope of a running function. */
  frame: Frame | undefined
  /** The class whose body this is, or whose method this is. */
  owner: { cls: ClassValue | undefined } | undefined
}

/** Values that a running function gathers. */
export interface Frame {
  /** The scope that called. */
  caller: Scope
  function: FunctionValue
  /** First positional argument, for `super()`. */
  self: Value | undefined
  /** Values returned under tests that could not be decided. */
  maybeReturned: Value[]
  /** Values yielded so far, if it is a generator. */
  yielded: Value[]
  /** It may have yielded more, or less. */
  maybeYielded: boolean
  /** Runs at its first `yield`. */
  block?: Block | undefined
}

/**
 * The state of one run over one pack; what can be done with it are functions that take it first. They follow Python, with
 * two differences everywhere: what can't be known is an unknown value (or an undefined result), and an error is raised
 * only where `raise`, `raiseIfHandled` and `raiseIfExpected` say.
 */
export interface Runtime {
  code: Code
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
  /** A loop around the running statement, within its function, may have ended before it, or its round. */
  maybeLeft: boolean
  /** Containers from which an undecided branch took something; undefined outside of one, and in what it imports. */
  removed: Removed | undefined
  /** Entries that an undecided branch put into dicts; undefined outside of one, and in what it imports. */
  added: AddedEntries | undefined
  /** Values that an undecided branch set; undefined outside of one, and in what it imports. */
  written: Written | undefined
  /** Names that a block may bind, computed once for each block. */
  assigned: WeakMap<object, readonly string[]>
  /**
   * Decisions taken on what is unknown: the ways of an undecided test, an expression in a `try` that may have raised.
   * As long as there are none, what is known is what Python gives.
   */
  guesses: number
  /** Numbers given out for `id()`. */
  identities: WeakMap<object, number>
  lastIdentity: number
  /** Keys of tuples and sets, where they are long, and numbers given out for long texts in keys. */
  hashes: WeakMap<object, string>
  texts: Map<string, number>
  /** Exceptions that may be ours, and those raised for them: a real host may not have them. */
  doubtful: WeakSet<object>
  /** Reasons that exceptions give: the name that a pack lacks, or the place that is no Python. */
  causes: WeakMap<object, Reason>
  /** Names that stand in the text of a function. */
  mentioned: WeakMap<object, readonly string[]>
  /** Exceptions that a `try` may meet: of a branch that may not be taken, or unknown, of a call that can't be followed. */
  mayRaise: Value[]
  /** A thread of the pack is running. */
  isThread: boolean
  /** The event loop that runs: the host imports packs in its own, threads begin without one. */
  loop: 'host' | 'own' | undefined
  /** A call that can't be followed is giving away its arguments. */
  giving: boolean
  /** A class of a node, or a module with such, was given to something of which nothing is known. */
  gaveNodes: boolean
  /** A node was put where nobody knows: that may be a mapping of the pack. */
  lostNodes: boolean
  /** A module or file of unknown name was run: it may be one of the pack. */
  ranUnknown: boolean
  /** A call may have written files of the pack: what the archive lacks may be there. */
  mayHaveWritten: boolean
  /** Calls by which the pack registers replacements of host nodes. */
  replacements: UnknownCall[]
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

/**
 * A raise that cost a statement of a module, an error of our own that cost an expression, or the use of what not every
 * host has.
 */
export interface Note {
  kind: 'raise' | 'error' | 'elsewhere'
  file: string
  line: number
  message: string
}

/**
 * The modules of the standard library that are more than unknowns. A module is made at its first import (`makeModule` is
 * called once for each runtime and name) and then stands in `rt.modules`. A module of the standard library that
 * is not found here is an unknown of that name.
 */
export interface LibraryRegistry {
  /** By dotted name: `os`, `os.path`, `importlib.util`. */
  find(name: string): ((rt: Runtime) => ModuleValue) | undefined
}
