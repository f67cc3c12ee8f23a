import { execute } from './statement.ts'
import { truthOf } from '../operate/truth.ts'
import { evaluateSafely } from '../evaluate/expression.ts'
import { assignedNames, collectPattern } from './assigned-names.ts'
import { runBranches } from './branch.ts'
import type { Branch } from './branch.ts'
import { bindName } from '../evaluate/name.ts'
import { matchPattern } from './pattern.ts'
import type { Completion, Runtime } from '../runtime.ts'
import type { Scope } from '../values/scope.ts'
import type { Truth, Value } from '../values/value.ts'
import type { Match, MatchCase } from '../../python/ast.ts'

/** The first case that fits; cases that can't be decided before it are branches beside it. */
export function executeMatch(rt: Runtime, node: Match, scope: Scope): Completion {
  const subject = evaluateSafely(rt, node.subject, scope)
  const branches: Branch[] = []
  for (const one of node.cases) {
    const captured = new Map<string, Value>()
    const truth = tryCase(rt, one, subject, scope, captured)
    if (truth === false) continue
    if (truth === true && branches.length === 0) return runCase(rt, one, captured, scope)
    branches.push(caseBranch(rt, one, captured))
    if (truth === true) return runBranches(rt, scope, branches)
  }
  if (branches.length === 0) return undefined
  return runBranches(rt, scope, [...branches, { names: [], run: () => undefined }])
}

function tryCase(
  rt: Runtime,
  { pattern, guard }: MatchCase,
  subject: Value,
  scope: Scope,
  captured: Map<string, Value>,
): Truth {
  const fits = matchPattern({ rt, scope, captured }, pattern, subject)
  if (fits === false || guard === undefined) return fits
  for (const [name, value] of captured) bindName(scope, name, value)
  const holds = truthOf(rt, evaluateSafely(rt, guard, scope))
  if (holds === false) return false
  return fits === true ? holds : undefined
}

function runCase(
  rt: Runtime,
  { body }: MatchCase,
  captured: ReadonlyMap<string, Value>,
  scope: Scope,
): Completion {
  for (const [name, value] of captured) bindName(scope, name, value)
  return execute(rt, body, scope)
}

function caseBranch(rt: Runtime, one: MatchCase, captured: ReadonlyMap<string, Value>): Branch {
  const names = new Set(assignedNames(rt, one.body))
  collectPattern(one.pattern, names)
  return { names: [...names], run: (scope) => runCase(rt, one, captured, scope) }
}
