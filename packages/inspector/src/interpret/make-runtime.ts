import { CUTTING, LIMITS, makeBudget } from './budget.ts'
import { makeBuiltins } from './builtin/builtins.ts'
import { moduleScope } from './evaluate/name.ts'
import { NO_FACTS } from './host-facts.ts'
import type { InterpreterOptions } from './interpreter.ts'
import {
  evaluate,
  evaluateAnnotation,
  evaluateAwait,
  evaluateSafely,
} from './evaluate/expression.ts'
import { assignTarget } from './execute/assignment.ts'
import { execute, executeStatement } from './execute/statement.ts'
import { findModule, importModule, normaliseName } from './modules/module-loader.ts'
import { callMethod, callSpecial, callWith } from './operate/call.ts'
import type { Code } from './code.ts'
import { makeFileParser } from './modules/parse-files.ts'
import { makePackModule } from './modules/run-module.ts'
import { makeVirtualFiles } from './modules/virtual-files.ts'
import type { RunState, Runtime } from './types.ts'
import { makeList } from './values/make-value.ts'

const CODE: Code = {
  callWith,
  callMethod,
  callSpecial,
  evaluate,
  evaluateSafely,
  evaluateAwait,
  evaluateAnnotation,
  assignTarget,
  execute,
  executeStatement,
  findModule,
  importModule,
}

/** The state of a run that has not begun. */
export function makeRuntime(options: InterpreterOptions): Runtime {
  const { pack, library, now, parser, decodeSource } = options
  const files = makeVirtualFiles(pack, folderName(pack))
  const state = makeState(files.packageName)
  const budget = makeBudget({ ...LIMITS, ...options.limits }, now, (name, detail) => {
    state.limitsMet.add(name)
    if (!CUTTING.has(name)) return
    const code = `budget_${name}`
    // One is enough: a hostile pack meets a limit a million times.
    if (!state.reasons.has(code)) state.reasons.set(code, { code, detail })
  })
  const builtins = makeBuiltins()
  return {
    code: CODE,
    budget,
    files,
    state,
    parser: makeFileParser({ files, parser, decodeSource, budget, state, now }),
    facts: options.facts ?? NO_FACTS,
    library,
    ownNames: new Set(pack.ownNames.map(normaliseName)),
    modules: new Map(),
    sysPath: makeList([]),
    builtins: builtins.names,
    builtinClass: builtins.classNamed,
  }
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
    maybeLeft: false,
    removed: undefined,
    added: undefined,
    written: undefined,
    assigned: new WeakMap(),
    guesses: 0,
    identities: new WeakMap(),
    lastIdentity: 0,
    hashes: new WeakMap(),
    texts: new Map(),
    doubtful: new WeakSet(),
    causes: new WeakMap(),
    mentioned: new WeakMap(),
    mayRaise: [],
    isThread: false,
    loop: 'host',
    giving: false,
    gaveNodes: false,
    lostNodes: false,
    ranUnknown: false,
    mayHaveWritten: false,
    replacements: [],
    reasons: new Map(),
    limitsMet: new Set(),
    notes: [],
  }
}
