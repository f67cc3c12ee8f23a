import { evaluateAwait } from './evaluate/expression.ts'
import { BudgetSpent, type Limits } from './budget.ts'
import { describeException } from './operate/describe-exception.ts'
import { Raised } from './operate/raise.ts'
import type {
  ClassValue,
  DictValue,
  LibraryRegistry,
  ModuleValue,
  Note,
  Reason,
  Runtime,
  Truth,
  Value,
} from './types.ts'
import { isModule, isObject, isUnknown } from './values/read-value.ts'
import { readItems } from './operate/iterate.ts'
import { strOf } from './operate/text-of.ts'
import { truthOf } from './operate/truth.ts'
import { findAttribute } from './operate/attribute.ts'
import { importModule } from './modules/module-loader.ts'
import { call } from './operate/call.ts'
import { findInClass } from './operate/class-lookup.ts'
import { makeUnknown } from './values/make-value.ts'
import { makeRuntime } from './make-runtime.ts'
import { asMapping } from './operate/mapping.ts'
import type { HostFacts } from './host-facts.ts'
import type { Module } from '../python/ast.ts'

/** The part of a pack that the interpreter reads. `Pack` of pack.ts fits. */
interface PackFiles {
  /** Content of the files that were kept, by path relative to the pack's root. */
  files: ReadonlyMap<string, Uint8Array>
  /** Every file of the pack, relative to its root. */
  paths: Iterable<string>
  /** Names under which the pack may import itself: node id, wrapping folder, project name. */
  ownNames: readonly string[]
  /** Name of the folder that the pack lies in, if it is known; else the first own name. */
  folder?: string | undefined
}

export interface InterpreterOptions {
  pack: PackFiles
  parser: { parse(text: string): Module }
  /** From bytes to text, as Python reads source. */
  decodeSource: (bytes: Uint8Array) => string
  library: LibraryRegistry
  facts?: HostFacts
  limits?: Partial<Limits>
  /** Milliseconds, monotonic. Without it there is no limit of time. */
  now?: () => number
}

export type Interpreter = ReturnType<typeof makeInterpreter>

/**
 * Runs a pack's `__init__.py` over known and unknown values. No function throws, whatever the pack holds: what can't be
 * known is an unknown value, and `reasons()` reports what was cut short.
 */
export function makeInterpreter(options: InterpreterOptions) {
  const rt = makeRuntime(options)
  const { root } = rt.files
  const attempt = <T>(fallback: T, run: () => T): T => guard(rt, fallback, run).value

  /** Like `call`, and also tells a raise and a spent budget apart from an unknown. */
  function tryCall(
    callee: Value,
    args: Value[],
    {
      steps = rt.budget.limits.steps,
      isAwaited = true,
    }: { steps?: number; isAwaited?: boolean } = {},
  ): Guarded<Value> {
    return tryRun(steps, () => {
      const value = call(rt, callee, args)
      return isAwaited ? evaluateAwait(rt, value) : value
    })
  }

  function tryRun(steps: number, run: () => Value): Guarded<Value> {
    return guard<Value>(rt, makeUnknown('call'), () => rt.budget.within(steps, run))
  }

  return {
    /** For functions that take the state of the run, and throw what the pack raises. */
    runtime: rt,
    /** Runs `__init__.py`; once. No module if the pack has none, or if it raises: `failure` says what. */
    importEntry(): { module?: ModuleValue; failure?: Reason } {
      const { value, failure } = guard<Value>(rt, null, () =>
        importModule(rt, rt.files.packageName),
      )
      // From here on it is no import: what is true of that is so no more.
      rt.state.guesses += 1
      rt.state.loop = 'own'
      if (failure) return { failure }
      const module = value ?? rt.modules.get(rt.files.packageName)
      return isModule(module) && rt.files.isFile(`${root}/__init__.py`) ? { module } : {}
    },
    /** Imports a file of the pack by its path; undefined where it raises. */
    importFile(path: string): ModuleValue | undefined {
      const name = path.replace(/(\/__init__)?\.py$/, '').replaceAll('/', '.')
      const dotted = `${rt.files.packageName}.${name}`
      const module = attempt<Value>(null, () => importModule(rt, dotted))
      return isModule(module) ? module : undefined
    },
    /** Calls a value, with at most that many steps (150,000 for one `INPUT_TYPES` or schema). */
    call: (callee: Value, args: Value[], given?: { steps?: number }): Value =>
      tryCall(callee, args, given).value,
    tryCall,
    /** Runs a coroutine to its end; all else is the result already. */
    tryAwait: (value: Value): Guarded<Value> =>
      tryRun(rt.budget.limits.steps, () => evaluateAwait(rt, value)),
    /** The attribute along the order of classes, descriptors applied; undefined if there is certainly none. */
    findAttribute: (value: Value, name: string): Value | undefined =>
      attempt<Value | undefined>(makeUnknown(name), () => findAttribute(rt, value, name)),
    /** The same without descriptors; an unknown comes from an unknown base. */
    findInClass: (cls: ClassValue, name: string): Value | undefined => findInClass(rt, cls, name),
    truth: (value: Value): Truth => attempt<Truth>(undefined, () => truthOf(rt, value)),
    /** `str(value)`; undefined if it can't be known. */
    text: (value: Value): string | undefined =>
      attempt<string | undefined>(undefined, () => strOf(rt, value)),
    /** Everything that iteration gives; `rest`: there may be more. */
    readItems: (value: Value) => attempt({ items: [], rest: true }, () => readItems(rt, value)),
    /** A dict, the content of an instance of a dict subclass, or what `items()` or `keys()` of another object give. */
    asDict: (value: Value): DictValue | undefined =>
      attempt<DictValue | undefined>(undefined, () => asMapping(rt, value)),
    /** Syntax tree of a file of the pack, by path relative to its root; parsed at most once. */
    parseFile: (path: string): Module | undefined => rt.parser.parse(`${root}/${path}`),
    /** Trees of all files parsed so far, by path relative to the pack's root. */
    parsedFiles: (): ReadonlyMap<string, Module> =>
      new Map([...rt.parser.parsed].map(([file, tree]) => [file.slice(root.length + 1), tree])),
    /** True where more nodes may be than any container shows. */
    mayLackNodes: (): boolean => rt.state.lostNodes || (rt.state.ranUnknown && hasUnread(rt)),
    /** Why the result may be incomplete, in the order met, each once. */
    reasons: (): Reason[] => [...rt.state.reasons.values()],
    /** Raises that cost a statement of a module, and uses of what not every host has. */
    notes: (): Note[] => rt.state.notes,
    stats: () => ({
      files: rt.parser.stats.files,
      bytes: rt.parser.stats.bytes,
      steps: Math.ceil(rt.budget.steps),
      // In the order met; most of them left no more than an unknown value.
      limitsMet: [...rt.state.limitsMet],
      parseMilliseconds: rt.parser.stats.milliseconds,
    }),
  }
}

/** A file that a module of unknown name may be. */
function hasUnread({ files, parser }: Runtime): boolean {
  return [...files.files()].some(
    (file) => file.endsWith('.py') && !parser.parsed.has(file) && !NEVER_IMPORTED.test(file),
  )
}

const NEVER_IMPORTED =
  /\/((tests?|docs?|examples?|scripts?)\/.*|(install|setup|prestartup_script|conftest|test_\w*|__main__)\.py)$/

interface Guarded<T> {
  value: T
  /** The exception that the pack raised. */
  failure?: Reason
  /** False for one that may be ours. */
  isSure?: boolean
  spent: boolean
}

/** Nothing of the pack's leaves the interpreter: a raise, a spent budget and a full stack give the fallback. */
function guard<T>(rt: Runtime, fallback: T, run: () => T): Guarded<T> {
  const { state } = rt
  const { scope, depth, nesting, handlers, handled } = state
  try {
    return { value: run(), spent: false }
  } catch (error) {
    Object.assign(state, { scope, depth, nesting, handlers, handled })
    if (error instanceof BudgetSpent) return { value: fallback, spent: true }
    if (error instanceof Raised) {
      const { exception } = error
      const isSure = !isObject(exception) || !state.doubtful.has(exception)
      return { value: fallback, failure: reasonOf(rt, exception), isSure, spent: false }
    }
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    state.notes.push({ kind: 'error', file: '', line: 0, message })
    return { value: fallback, spent: false }
  }
}

function reasonOf(rt: Runtime, exception: Value): Reason {
  const cause = isObject(exception) ? rt.state.causes.get(exception) : undefined
  return cause ?? { code: 'import_raised', detail: describeSafely(rt, exception) }
}

/** The exception's own `__str__` may raise in turn. */
function describeSafely(rt: Runtime, exception: Value): string {
  try {
    return describeException(rt, exception)
  } catch {
    return isUnknown(exception) ? exception.name : 'an exception'
  }
}
