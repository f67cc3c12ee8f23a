import { execute } from '../run-code.ts'
import { truthOf } from '../operate/truth.ts'
import { evaluateSafely } from '../evaluate/expression.ts'
import { namesOf } from '../../python/build/patterns.ts'
import { assignedNames } from './assigned-names.ts'
import { NO_BRANCH, runBranches, type Branch } from './branch.ts'
import { bindName } from '../evaluate/name.ts'
import type { Completion, Runtime, Scope, Truth, Value } from '../types.ts'
import type { Match, MatchCase, Pattern } from '../../python/ast.ts'
import { equals } from '../operate/compare.ts'
import { makeUnknown } from '../values/make-value.ts'

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
  return runBranches(rt, scope, [...branches, NO_BRANCH])
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
  const names = [...assignedNames(rt, one.body), ...namesOf(one.pattern)]
  return { names, run: (scope) => runCase(rt, one, captured, scope) }
}

/** Place where a pattern is matched, and the names that it captures. */
interface Matching {
  rt: Runtime
  scope: Scope
  captured: Map<string, Value>
}

/** True when the value fits; undefined if that can't be decided. */
function matchPattern(matching: Matching, pattern: Pattern, value: Value): Truth {
  const { rt, scope } = matching
  rt.budget.step(1)
  switch (pattern.kind) {
    case 'MatchValue':
      return equals(rt, value, evaluateSafely(rt, pattern.value, scope))
    case 'MatchAs':
      return matchAs(matching, pattern, value)
    case 'MatchOther':
      for (const name of pattern.names) matching.captured.set(name, makeUnknown(name))
      return undefined
  }
}

function matchAs(
  matching: Matching,
  { pattern, name }: Pattern & { kind: 'MatchAs' },
  value: Value,
): Truth {
  const fits = pattern ? matchPattern(matching, pattern, value) : true
  if (fits !== false && name !== undefined) matching.captured.set(name, value)
  return fits
}
