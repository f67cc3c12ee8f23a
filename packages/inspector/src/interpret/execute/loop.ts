import { withState } from '../with-state.ts'
import { assignTarget, execute } from '../run-code.ts'
import { mentioned, openReached } from '../operate/give-away.ts'
import { raiseIfCertain } from '../operate/raise.ts'
import { isUnknown, nameOf } from '../values/read-value.ts'
import { truthOf } from '../operate/truth.ts'
import { inOne, iterate, mayIterate } from '../operate/iterate.ts'
import { evaluateSafely } from '../evaluate/expression.ts'
import { bindName, stepOf } from '../evaluate/name.ts'
import type { For, While } from '../../python/ast.ts'
import { nodesWithin } from '../../python/nodes-within.ts'
import { assignedNames } from './assigned-names.ts'
import { NO_BRANCH, runBranches } from './branch.ts'
import { makeUnknown } from '../values/make-value.ts'
import type { Completion, IteratorValue, Runtime, Scope, Value } from '../types.ts'

export function executeLoop(rt: Runtime, node: For | While, scope: Scope): Completion {
  const { maybeBroken, maybeLeft } = rt.state
  return withState(rt, { maybeBroken, maybeLeft }, () => {
    const end = node.kind === 'For' ? runFor(rt, node, scope) : runWhile(rt, node, scope)
    return end === 'break' ? undefined : (end ?? execute(rt, node.orelse, scope))
  })
}

function runFor(rt: Runtime, node: For, scope: Scope): Completion {
  const source = inOne(evaluateSafely(rt, node.iter, scope))
  const iterator = iterate(rt, source)
  if (!iterator && !mayIterate(source)) raiseIfCertain(rt, 'TypeError', 'object is not iterable')
  return iterator
    ? runRounds(rt, node, iterator, scope)
    : runMaybe(rt, node, scope, unknownItem(source))
}

function unknownItem(source: Value): Value {
  return makeUnknown(`${nameOf(source)}[]`, isUnknown(source) ? source.origin : 'pack')
}

/** One round for each item, and one that may not happen if there may be more items. */
function runRounds(rt: Runtime, node: For, iterator: IteratorValue, scope: Scope): Completion {
  let rounds = 0
  for (let item = iterator.next(); item !== undefined; item = iterator.next()) {
    rounds += 1
    if (rounds > rt.budget.limits.forItems) {
      rt.budget.spent('items')
      return cutShort(rt, node, scope)
    }
    rt.budget.step(stepOf(scope))
    const end = iterator.maybe?.has(item)
      ? runMaybe(rt, node, scope, item, 0)
      : runRound(rt, node, scope, item)
    if (end !== undefined && end !== 'continue') return end
  }
  return iterator.rest ? runMaybe(rt, node, scope, makeUnknown('item')) : undefined
}

function runRound(rt: Runtime, node: For, scope: Scope, item: Value): Completion {
  assignTarget(rt, node.target, item, scope)
  return execute(rt, node.body, scope)
}

/** A round that may not happen: what it binds is merged with what was bound before. */
function runMaybe(rt: Runtime, node: For, scope: Scope, item: Value, repeating = 1): Completion {
  const names = assignedNames(rt, node)
  const round = () => endOfRound(rt, repeating, () => runRound(rt, node, scope, item))
  return runBranches(rt, scope, [{ names, run: round }, NO_BRANCH])
}

function endOfRound(rt: Runtime, repeating: number, round: () => Completion): Completion {
  const end = withState(rt, { repeating: rt.state.repeating + repeating }, round)
  return typeof end === 'object' ? end : undefined
}

function runWhile(rt: Runtime, node: While, scope: Scope): Completion {
  const { state } = rt
  const max = state.isThread ? THREAD_ROUNDS : rt.budget.limits.whileRounds
  for (let rounds = 0; rounds < max; rounds += 1) {
    const test = truthOf(rt, evaluateSafely(rt, node.test, scope))
    if (test === false) return undefined
    if (test === undefined) return runWhileOnce(rt, node, scope)
    state.maybeBroken = false
    const end = execute(rt, node.body, scope)
    if (end !== undefined && end !== 'continue') return end
    // `while True` with a break that could not be decided would use up all rounds.
    if (state.maybeBroken && node.test.kind === 'Constant') return undefined
  }
  if (!state.isThread) rt.budget.spent('rounds')
  return cutShort(rt, node, scope)
}

/** The rest of the loop was not run: all that it may write is unknown. */
function cutShort(rt: Runtime, node: For | While, scope: Scope): undefined {
  rt.state.guesses += 1
  for (const name of assignedNames(rt, node)) bindName(scope, name, makeUnknown(name))
  for (const part of nodesWithin(node.body))
    if (part.kind === 'AugAssign') assignTarget(rt, part.target, makeUnknown('loop'), scope)
  if (scope.frame) scope.frame.maybeYielded = true
  openReached(rt, mentioned(rt, node, scope))
  return undefined
}

/** Rounds of a `while` in a thread: one that watches something has no end. */
const THREAD_ROUNDS = 100

function runWhileOnce(rt: Runtime, node: While, scope: Scope): Completion {
  const round = () => endOfRound(rt, 1, () => execute(rt, node.body, scope))
  return runBranches(rt, scope, [{ names: assignedNames(rt, node.body), run: round }, NO_BRANCH])
}
