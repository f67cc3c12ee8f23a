import { evaluateSafely, execute } from '../run-code.ts'
import { withState } from '../with-state.ts'
import { truthOf } from '../operate/truth.ts'
import { assignedNames } from './assigned-names.ts'
import { mergeValues } from '../values/merge-values.ts'
import { attempt, type Raised } from '../operate/raise.ts'
import type { AddedEntries, Removed } from '../operate/set-item.ts'
import { mergeWritten, takeBack, type Written } from '../operate/written.ts'
import { dictMark } from '../values/dict.ts'
import type { Completion, Runtime, Scope, Value } from '../types.ts'
import type { If, Statement } from '../../python/ast.ts'

export function executeIf(rt: Runtime, node: If, scope: Scope): Completion {
  const test = truthOf(rt, evaluateSafely(rt, node.test, scope))
  if (test === true) return execute(rt, node.body, scope)
  if (test === false) return execute(rt, node.orelse, scope)
  return runBranches(rt, scope, [bodyBranch(rt, node.body), bodyBranch(rt, node.orelse)])
}

/** One way the pack may go. */
export interface Branch {
  /** Names it may bind. */
  names: readonly string[]
  run: (scope: Scope) => Completion
}

/** The way past what may not run. */
export const NO_BRANCH: Branch = { names: [], run: () => undefined }

function bodyBranch(rt: Runtime, body: readonly Statement[]): Branch {
  return { names: assignedNames(rt, body), run: (scope) => execute(rt, body, scope) }
}

interface Outcome {
  end: Completion
  raised: Raised | undefined
  added: AddedEntries
  written: Written
  bindings: Map<string, Value | undefined>
}

/**
 * Runs every branch from the same bindings and merges what they bind or replace. What they add to containers stays, what
 * they take out of them comes back. A branch that raises, returns or leaves a loop just ends; only if all do, the block
 * ends that way. A value returned by one of several is remembered in the frame.
 */
export function runBranches(rt: Runtime, scope: Scope, branches: Branch[]): Completion {
  rt.state.guesses += 1
  const names = [...new Set(branches.flatMap((branch) => branch.names))]
  const before = readBindings(scope, names)
  const outcomes: Outcome[] = []
  for (const branch of branches) {
    writeBindings(scope, before)
    const outcome = runBranch(rt, scope, branch)
    outcomes.push({ ...outcome, bindings: readBindings(scope, names) })
    takeBack(outcome.written)
    markAdded(outcome)
  }
  mergeWritten(
    rt,
    outcomes.map(({ written }) => written),
  )
  const alive = outcomes.filter((outcome) => !outcome.raised && outcome.end === undefined)
  // What a branch has bound that leaves a loop is there behind it.
  const staying = outcomes.filter(({ raised, end }) => !raised && typeof end !== 'object')
  const counted = alive.length > 0 ? staying : outcomes
  mergeBindings(scope, names, counted)
  unmarkCommon(rt, counted)
  return endOf(rt, scope, outcomes, alive.length > 0)
}

function runBranch(rt: Runtime, scope: Scope, branch: Branch): Omit<Outcome, 'bindings'> {
  const removed: Removed = { scope: rt.state.scope, putBack: new Map() }
  const added: AddedEntries = new Map()
  const written: Written = new Map()
  const run = () => attempt(rt, () => branch.run(scope))
  try {
    const { value: end, raised } = withState(rt, { removed, added, written }, run)
    return { end, raised, added, written }
  } finally {
    for (const putBack of removed.putBack.values()) putBack()
  }
}

/** Runs what may run or not, and gives the entries that it put into dicts: they may not be there. */
export function runUnsure(rt: Runtime, run: () => Completion): AddedEntries {
  const { added, written } = runBranch(rt, rt.state.scope, { names: [], run })
  takeBack(written)
  markAdded({ added })
  mergeWritten(rt, [written, new Map()])
  return added
}

/** Marks entries that a branch put into dicts: they may not be there. */
function markAdded({ added }: Pick<Outcome, 'added'>): void {
  for (const [dict, hashes] of added)
    for (const hash of hashes) if (dict.values.has(hash)) dictMark(dict, hash, true)
}

/** Unmarks entries that all branches put into a dict: they are there as far as the block around them runs. */
function unmarkCommon(rt: Runtime, [first, ...others]: Outcome[]): void {
  for (const [dict, hashes] of first?.added ?? [])
    for (const hash of hashes) {
      if (!others.every(({ added }) => added.get(dict)?.has(hash))) continue
      dictMark(dict, hash, false)
      const around = rt.state.added
      around?.set(dict, (around.get(dict) ?? new Set()).add(hash))
    }
}

function scopeOf(scope: Scope, name: string): Scope {
  return scope.declared?.get(name) ?? scope
}

function readBindings(scope: Scope, names: readonly string[]): Map<string, Value | undefined> {
  return new Map(names.map((name) => [name, scopeOf(scope, name).names.get(name)]))
}

function writeBindings(scope: Scope, bindings: ReadonlyMap<string, Value | undefined>): void {
  for (const [name, value] of bindings) {
    if (value === undefined) scopeOf(scope, name).names.delete(name)
    else scopeOf(scope, name).names.set(name, value)
  }
}

function mergeBindings(scope: Scope, names: readonly string[], outcomes: Outcome[]): void {
  for (const name of names) {
    const merged = mergeValues(outcomes.map((outcome) => outcome.bindings.get(name)))
    if (merged === undefined) scopeOf(scope, name).names.delete(name)
    else scopeOf(scope, name).names.set(name, merged)
  }
}

/** Returns the completion of the block as a whole. */
function endOf(rt: Runtime, scope: Scope, outcomes: Outcome[], goesOn: boolean): Completion {
  const returned: Completion[] = []
  for (const { raised } of outcomes) if (raised) rt.state.mayRaise.push(raised.exception)
  let left: Completion
  for (const { end } of outcomes) {
    if (typeof end === 'object') returned.push(end)
    else left ??= end
  }
  const frame = scope.frame
  const last = goesOn || left !== undefined ? undefined : returned.pop()
  for (const end of returned) if (typeof end === 'object') frame?.maybeReturned.push(end.returned)
  if (outcomes.some(({ end }) => end === 'break')) rt.state.maybeBroken = true
  if (outcomes.some(({ end }) => end === 'break' || end === 'continue')) rt.state.maybeLeft = true
  if (goesOn) return undefined
  if (left !== undefined) return left
  if (last !== undefined) return last
  const raised = outcomes.find((outcome) => outcome.raised)?.raised
  if (raised) throw raised
  return undefined
}
