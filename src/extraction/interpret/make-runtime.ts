import { assignTarget } from './execute/assignment.ts'
import { findAttribute, getAttribute, hasAttribute } from './operate/attribute.ts'
import { CUTTING, LIMITS, makeBudget } from './budget.ts'
import type { Budget } from './budget.ts'
import { makeBuiltins } from './builtin/builtins.ts'
import { callSpecial, callWith, isCallable, unknownCall } from './operate/call.ts'
import { findInClass } from './operate/class-lookup.ts'
import { equals, identical } from './operate/compare.ts'
import { evaluate, evaluateSafely } from './evaluate/expression.ts'
import { hashKey } from './values/hash-key.ts'
import { NO_FACTS } from './host-facts.ts'
import { publicNames } from './execute/import-statement.ts'
import type { InterpreterOptions } from './interpreter.ts'
import { isInstance, isSubclass } from './operate/is-instance.ts'
import { getItem } from './operate/item.ts'
import { iterate, lengthOfValue, readItems } from './operate/iterate.ts'
import { listAttributes } from './operate/list-attributes.ts'
import { makeClass } from './operate/make-class.ts'
import { makeList, makeUnknown, NO_KWARGS } from './values/make-value.ts'
import { getEntry, makeDict, makeSet, setEntry } from './values/mapping.ts'
import { contains } from './operate/membership.ts'
import { makeModuleLoader, resolveName } from './modules/module-loader.ts'
import { moduleScope } from './evaluate/name.ts'
import { binary } from './operate/operator.ts'
import { less, sort } from './operate/order.ts'
import { makeFileParser } from './modules/parse-files.ts'
import type { FileParser } from './modules/parse-files.ts'
import { isHandled, raise } from './operate/raise.ts'
import { makePackModule, runModule } from './modules/run-module.ts'
import type { RunState, Runtime } from './runtime.ts'
import { deleteAttribute, setAttribute } from './operate/set-attribute.ts'
import { deleteItem, setItem } from './operate/set-item.ts'
import { execute } from './execute/statement.ts'
import { format, repr, str } from './operate/text-of.ts'
import { truth } from './operate/truth.ts'
import { typeOf } from './values/type-of.ts'
import { makeVirtualFiles } from './modules/virtual-files.ts'

export interface MadeRuntime {
  rt: Runtime
  fileParser: FileParser
}

/** Wires the operations of one run together. They call each other through the runtime, so each stands in its own file. */
export function makeRuntime(options: InterpreterOptions): MadeRuntime {
  const { pack, library, now } = options
  const files = makeVirtualFiles(pack, folderName(pack))
  const state = makeState(files.packageName)
  const budget = makeBudget({
    limits: { ...LIMITS, ...options.limits },
    now,
    onSpent: (name, detail) => {
      state.limitsMet.add(name)
      if (!CUTTING.has(name)) return
      const code = `budget_${name}`
      // One is enough: a hostile pack meets a limit a million times.
      if (!state.reasons.has(code)) state.reasons.set(code, { code, detail })
    },
  })
  const { parser, decodeSource } = options
  const fileParser = makeFileParser({ files, parser, decodeSource, budget, state, now })
  const rt = wire(options, { files, state, budget, fileParser })
  const loader = makeModuleLoader(library, pack.ownNames)
  rt.importModule = (name) => loader.importModule(rt, name)
  rt.findModule = (name) => loader.findModule(rt, name)
  return { rt, fileParser }
}

/** Fit for a folder and for a module: the host, too, replaces the dots. */
function folderName({ folder, ownNames }: InterpreterOptions['pack']): string {
  const name = (folder ?? ownNames[0] ?? '').replaceAll(/[^\p{L}\p{N}_-]/gu, '_')
  return name === '' ? 'pack' : name
}

function makeState(packageName: string): RunState {
  return {
    scope: moduleScope(makePackModule(packageName, '', true)),
    depth: 0,
    nesting: 0,
    handlers: [],
    handled: [],
    repeating: 0,
    maybeBroken: false,
    removed: undefined,
    assigned: new WeakMap(),
    identities: new WeakMap(),
    lastIdentity: 0,
    reasons: new Map(),
    limitsMet: new Set(),
    notes: [],
  }
}

interface Parts {
  files: Runtime['files']
  state: RunState
  budget: Budget
  fileParser: FileParser
}

function wire(options: InterpreterOptions, { files, state, budget, fileParser }: Parts): Runtime {
  const builtins = makeBuiltins()
  const object = builtins.classes.get('object')
  const iterator = builtins.classes.get('iterator')
  if (!object || !iterator) throw new Error('The builtin classes are incomplete')
  const rt: Runtime = {
    budget,
    files,
    state,
    facts: options.facts ?? NO_FACTS,
    modules: new Map(),
    sysPath: makeList([]),
    builtins: builtins.names,
    builtinClass: (name) =>
      builtins.classes.get(name) ?? (name.endsWith('iterator') ? iterator : object),

    call: (callee, args, kwargs = NO_KWARGS) => callWith(rt, callee, { args, kwargs, rest: false }),
    callWith: (callee, call) => callWith(rt, callee, call),
    callMethod(value, name, args, kwargs) {
      const method = findAttribute(rt, value, name)
      return method === undefined ? undefined : rt.call(method, args, kwargs)
    },
    callSpecial: (value, name, args) => callSpecial(rt, value, name, args),
    isCallable: (value) => isCallable(rt, value),

    getAttribute: (value, name) => getAttribute(rt, value, name),
    findAttribute: (value, name) => findAttribute(rt, value, name),
    hasAttribute: (value, name) => hasAttribute(rt, value, name),
    setAttribute: (value, name, to) => setAttribute(rt, value, name, to),
    deleteAttribute: (value, name) => deleteAttribute(rt, value, name),
    findInClass: (cls, name) => findInClass(rt, cls, name),
    listAttributes: (value) => listAttributes(rt, value),

    getItem: (value, key) => getItem(rt, value, key),
    setItem: (value, key, to) => setItem(rt, value, key, to),
    deleteItem: (value, key) => deleteItem(rt, value, key),
    contains: (container, item) => contains(rt, container, item),

    readItems: (value) => readItems(rt, value),
    iterate: (value) => iterate(rt, value),
    length: (value) => lengthOfValue(rt, value),

    truth: (value) => truth(rt, value),
    equals: (a, b) => equals(rt, a, b),
    identical: (a, b) => identical(rt, a, b),
    less: (a, b) => less(rt, a, b),
    sort: (items, key, reverse) => sort(rt, items, key, reverse),
    hashKey: (value) => hashKey(rt, value),
    str: (value) => str(rt, value),
    repr: (value) => repr(rt, value),
    format: (value, spec) => format(rt, value, spec),
    binary: (op, left, right) => binary(rt, op, left, right),

    typeOf: (value) => typeOf(rt, value),
    isInstance: (value, cls) => isInstance(rt, value, cls),
    isSubclass: (value, cls) => isSubclass(rt, value, cls),
    makeClass: (name, bases, namespace, given) => makeClass(rt, name, bases, namespace, given),

    raise: (exception, message) => raise(rt, exception, message),
    raiseIfHandled(exception, message) {
      if (isHandled(rt, exception, false)) raise(rt, exception, message)
    },
    raiseIfExpected(exception, message) {
      if (isHandled(rt, exception, true)) raise(rt, exception, message)
    },
    unknown: (name, origin = 'pack') => makeUnknown(name, origin),
    unknownCall(callee, args, kwargs = NO_KWARGS) {
      return unknownCall(callee, { args, kwargs, rest: false })
    },

    importModule: () => null,
    findModule: () => undefined,
    resolveName,
    makeModule: makePackModule,
    runModule: (module) => runModule(rt, module),
    currentModule: () => state.scope.module,
    currentScope: () => state.scope,
    parseFile: (file) => fileParser.parse(file),
    publicNames: (module) => publicNames(rt, module),

    getEntry: (dict, key) => getEntry(rt, dict, key),
    setEntry: (dict, key, value) => setEntry(rt, dict, key, value),
    makeDict: (entries) => makeDict(rt, entries),
    makeSet: (items, frozen) => makeSet(rt, items, frozen),

    evaluate: (node, scope) => evaluate(rt, node, scope),
    evaluateSafely: (node, scope) => evaluateSafely(rt, node, scope),
    execute: (body, scope) => execute(rt, body, scope),
    assign: (target, value, scope) => assignTarget(rt, target, value, scope),
  }
  return rt
}
