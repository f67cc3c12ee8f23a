import { evaluateAnnotation, evaluateSafely } from '../evaluate/expression.ts'
import { bindName, declareNames, stepOf } from '../evaluate/name.ts'
import { assignTarget, augmentTarget, deleteTarget } from './assignment.ts'
import { executeIf } from './branch.ts'
import { executeClass, executeFunction } from './definition.ts'
import { executeImport, executeImportFrom } from './import-statement.ts'
import { executeLoop } from './loop.ts'
import { executeMatch } from './match.ts'
import { executeRaise, executeTry, executeWith } from './try-with.ts'
import { makeDict, setEntry } from '../operate/mapping.ts'
import type { Completion, Runtime, Scope } from '../types.ts'
import { makeUnknown } from '../values/make-value.ts'
import { isDict } from '../values/read-value.ts'
import { raiseIfCertain } from '../operate/raise.ts'
import { truthOf } from '../operate/truth.ts'
import type { AnnAssign, Assert, Assign, Statement } from '../../python/ast.ts'

/** Runs statements up to the first that leaves the block. */
export function execute(rt: Runtime, body: readonly Statement[], scope: Scope): Completion {
  for (const statement of body) {
    const end = executeStatement(rt, statement, scope)
    if (end !== undefined) return end
  }
  return undefined
}

export function executeStatement(rt: Runtime, node: Statement, scope: Scope): Completion {
  rt.budget.step(stepOf(scope))
  switch (node.kind) {
    case 'Expr':
      // A docstring is the most frequent of all.
      if (node.value.kind !== 'Constant') evaluateSafely(rt, node.value, scope)
      return undefined
    case 'Assign':
      return executeAssign(rt, node, scope)
    case 'If':
      return executeIf(rt, node, scope)
    case 'Return':
      return { returned: node.value ? evaluateSafely(rt, node.value, scope) : null }
    case 'FunctionDef':
      return executeFunction(rt, node, scope)
    case 'ClassDef':
      return executeClass(rt, node, scope)
    case 'For':
    case 'While':
      return executeLoop(rt, node, scope)
    case 'AugAssign':
      return augmentTarget(rt, node, scope)
    case 'AnnAssign':
      return executeAnnotated(rt, node, scope)
    case 'Import':
      return executeImport(rt, node, scope)
    case 'ImportFrom':
      return executeImportFrom(rt, node, scope)
    case 'Try':
      return executeTry(rt, node, scope)
    case 'With':
      return executeWith(rt, node, scope)
    case 'Raise':
      return executeRaise(rt, node, scope)
    case 'Delete':
      for (const target of node.targets) deleteTarget(rt, target, scope)
      return undefined
    case 'Global':
    case 'Nonlocal':
      return declareNames(rt, node, scope)
    case 'Match':
      return executeMatch(rt, node, scope)
    case 'Assert':
      return executeAssert(rt, node, scope)
    case 'Pass':
      return undefined
    case 'Break':
      return 'break'
    case 'Continue':
      return 'continue'
  }
}

function executeAssign(rt: Runtime, node: Assign, scope: Scope): Completion {
  const value = node.isAlias ? makeUnknown('type') : evaluateSafely(rt, node.value, scope)
  for (const target of node.targets) assignTarget(rt, target, value, scope)
  return undefined
}

/** Annotations of a class body are kept: dataclasses are made from them. */
function executeAnnotated(rt: Runtime, node: AnnAssign, scope: Scope): Completion {
  if (node.value) assignTarget(rt, node.target, evaluateSafely(rt, node.value, scope), scope)
  if (scope.kind !== 'class' || node.target.kind !== 'Name') return undefined
  const known = scope.names.get('__annotations__')
  const annotations = isDict(known) ? known : makeDict(rt, [])
  if (annotations !== known) bindName(scope, '__annotations__', annotations)
  setEntry(rt, annotations, node.target.id, evaluateAnnotation(rt, node.annotation, scope))
  return undefined
}

/** Heeded only while all is known: what can't be decided holds. */
function executeAssert(rt: Runtime, node: Assert, scope: Scope): Completion {
  const { state } = rt
  if (state.guesses > 0) return undefined
  const holds = truthOf(rt, evaluateSafely(rt, node.test, scope))
  if (holds === undefined) state.guesses -= 1
  if (holds !== false || state.guesses > 0) return undefined
  const message = node.message && evaluateSafely(rt, node.message, scope)
  return raiseIfCertain(rt, 'AssertionError', message)
}
