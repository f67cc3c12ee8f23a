import { withState } from '../with-state.ts'
import { BudgetSpent } from '../budget.ts'
import { recordError } from '../evaluate/expression.ts'
import { docstringOf } from '../evaluate/make-function.ts'
import { moduleScope } from '../evaluate/name.ts'
import { assignedNames } from '../execute/assigned-names.ts'
import { executeStatement } from '../execute/statement.ts'
import { describeException } from '../operate/describe-exception.ts'
import { Raised, raiseFor } from '../operate/raise.ts'
import type { ModuleValue, Runtime, Scope, Value } from '../types.ts'
import { makeEmptyDict, makeList, makeModule } from '../values/make-value.ts'
import { isObject } from '../values/read-value.ts'
import type { Module, Statement } from '../../python/ast.ts'
import type { PythonSyntaxError } from '../../python/syntax-errors.ts'

/** A new, empty module of the pack for that file, not yet in `rt.modules`. */
export function makePackModule(name: string, file: string, isPackage: boolean): ModuleValue {
  const isFile = file.endsWith('.py')
  const folder = isFile ? file.slice(0, file.lastIndexOf('/')) : file
  const around = isPackage ? name : name.slice(0, Math.max(0, name.lastIndexOf('.')))
  const namespace = new Map<string, Value>([
    ['__name__', name],
    ['__doc__', null],
    ['__package__', around],
    ['__annotations__', makeEmptyDict()],
  ])
  if (isFile) namespace.set('__file__', file)
  if (isPackage) namespace.set('__path__', makeList([folder]))
  return makeModule({ name, home: 'pack', file, isPackage, namespace, complete: true })
}

/**
 * Runs a module's statements. A raise ends it, and reaches whoever imports it. One that may be ours costs no more than
 * its statement; the next one runs.
 */
export function runModule(rt: Runtime, module: ModuleValue): void {
  const { file } = module
  if (file === undefined || !file.endsWith('.py')) return
  const tree = rt.parser.parse(file)
  if (!tree) {
    module.complete = false
    return
  }
  if (tree.syntaxError) raiseSyntaxError(rt, file, tree.syntaxError)
  if (tree.broken.length > 0) module.complete = false
  const docstring = docstringOf(tree.body)
  if (docstring !== undefined) module.namespace.set('__doc__', docstring)
  runStatements(rt, module, tree)
}

function raiseSyntaxError(rt: Runtime, file: string, { line, message }: PythonSyntaxError): never {
  const detail = `${file.slice(rt.files.root.length + 1)}, line ${line}: ${message}`
  return raiseFor(rt, 'SyntaxError', message, { code: 'unparsable', detail })
}

/** Runs the statements of a module. */
export function runStatements(rt: Runtime, module: ModuleValue, tree: Module): void {
  const scope = moduleScope(module)
  const { maybeBroken } = rt.state
  // A handler of the importing module does not keep a raise from being noted here.
  const fresh = {
    scope,
    handlers: [],
    handled: [],
    nesting: 0,
    repeating: 0,
    maybeBroken,
    maybeLeft: false,
    removed: undefined,
    added: undefined,
    written: undefined,
  }
  withState(rt, fresh, () => {
    try {
      for (const [index, statement] of tree.body.entries()) {
        module.running = index + 1
        if (!runStatement(rt, module, statement, scope)) break
      }
    } finally {
      module.running = 0
    }
  })
}

/** False if the module ends here. */
function runStatement(
  rt: Runtime,
  module: ModuleValue,
  statement: Statement,
  scope: Scope,
): boolean {
  const { state } = rt
  const { depth } = state
  try {
    executeStatement(rt, statement, scope)
    return true
  } catch (error) {
    if (error instanceof BudgetSpent) throw error
    Object.assign(state, { depth, nesting: 0, repeating: 0, scope, handlers: [] })
    for (const name of assignedNames(rt, [statement])) module.lost.add(name)
    if (error instanceof Raised) {
      recordRaise(rt, module, statement.line, error)
      if (module.home === 'pack' && !isDoubtful(rt, error)) throw error
      return true
    }
    recordError(rt, error, statement.line)
    module.complete = false
    return false
  }
}

function isDoubtful(rt: Runtime, { exception }: Raised): boolean {
  return isObject(exception) && rt.state.doubtful.has(exception)
}

function recordRaise(rt: Runtime, module: ModuleValue, line: number, raised: Raised): void {
  const { exception } = raised
  const { causes, notes } = rt.state
  const { file = '' } = module
  const message = describeException(rt, exception)
  notes.push({ kind: 'raise', file, line, message })
  if (!isObject(exception)) return
  const place = `${file.slice(rt.files.root.length + 1)}, line ${line}`
  const cause = causes.get(exception)
  if (!cause) causes.set(exception, { code: 'import_raised', detail: `${place}: ${message}` })
  else if (!cause.detail.includes(', line '))
    causes.set(exception, { ...cause, detail: `${cause.detail} (${place})` })
}
