import { execute } from './statement.ts'
import { truthOf } from '../operate/truth.ts'
import { evaluateSafely } from '../evaluate/expression.ts'
import { assignedNames, collectPattern } from './assigned-names.ts'
import { runBranches, type Branch } from './branch.ts'
import { bindName } from '../evaluate/name.ts'
import type { Completion, DictValue, Runtime, Scope, Truth, Value } from '../types.ts'
import type { Match, MatchCase, Pattern } from '../../python/ast.ts'
import { isClass, isObject, isTuple, payloadOf } from '../values/read-value.ts'
import { findInClass } from '../operate/class-lookup.ts'
import { findAttribute, getAttribute } from '../operate/attribute.ts'
import { isInstance } from '../operate/is-instance.ts'
import { hashKey } from '../operate/hash-key.ts'
import { readItems } from '../operate/iterate.ts'
import { equals, identical } from '../operate/compare.ts'
import { words } from '../../words.ts'
import { dictGet, dictKey } from '../values/dict.ts'
import { makeEmptyDict, makeList, makeUnknown } from '../values/make-value.ts'
import { setEntry } from '../operate/mapping.ts'

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
    case 'MatchSingleton':
      return identical(rt, value, pattern.value)
    case 'MatchAs':
      return matchAs(matching, pattern, value)
    case 'MatchStar':
      return true
    case 'MatchOr':
      return matchOr(matching, pattern.patterns, value)
    case 'MatchSequence':
      return matchSequence(matching, pattern.patterns, value)
    case 'MatchMapping':
      return matchMapping(matching, pattern, value)
    case 'MatchClass':
      return matchClass(matching, pattern, value)
  }
}

type PatternOf<Kind extends Pattern['kind']> = Extract<Pattern, { kind: Kind }>

function matchAs(matching: Matching, { pattern, name }: PatternOf<'MatchAs'>, value: Value): Truth {
  const fits = pattern ? matchPattern(matching, pattern, value) : true
  if (fits !== false && name !== undefined) matching.captured.set(name, value)
  return fits
}

function matchOr(matching: Matching, patterns: Pattern[], value: Value): Truth {
  let decided: Truth = false
  for (const pattern of patterns) {
    const fits = matchPattern(matching, pattern, value)
    if (fits === true) return decided === undefined ? undefined : true
    if (fits === undefined) decided = undefined
  }
  return decided
}

/** All must fit; the first that does not decides. */
function all(parts: Iterable<Truth>): Truth {
  let decided: Truth = true
  for (const part of parts) {
    if (part === false) return false
    if (part === undefined) decided = undefined
  }
  return decided
}

function matchSequence(matching: Matching, patterns: Pattern[], value: Value): Truth {
  const inner = payloadOf(value)
  if (!isObject(inner)) return false
  if (inner.kind === 'unknown') return matchUnknownItems(matching, patterns)
  if (inner.kind !== 'list' && inner.kind !== 'tuple' && inner.kind !== 'range') return false
  const { items, rest } = readItems(matching.rt, inner)
  const star = patterns.findIndex((pattern) => pattern.kind === 'MatchStar')
  const tooShort = items.length < patterns.length - (star < 0 ? 0 : 1)
  if (!rest && (tooShort || (star < 0 && items.length > patterns.length))) return false
  if (rest) return matchUnknownItems(matching, patterns)
  return all(matchItems(matching, { patterns, items, star }))
}

/** Every name is captured as an unknown. */
function matchUnknownItems(matching: Matching, patterns: Pattern[]): undefined {
  for (const pattern of patterns) {
    if (pattern.kind === 'MatchStar') captureStar(matching, pattern, makeList([], true))
    else matchPattern(matching, pattern, makeUnknown('item'))
  }
}

function captureStar({ captured }: Matching, { name }: PatternOf<'MatchStar'>, value: Value): void {
  if (name !== undefined) captured.set(name, value)
}

function* matchItems(
  matching: Matching,
  { patterns, items, star }: { patterns: Pattern[]; items: Value[]; star: number },
): Generator<Truth> {
  const skipped = items.length - patterns.length
  for (const [index, pattern] of patterns.entries()) {
    if (pattern.kind === 'MatchStar') {
      captureStar(matching, pattern, makeList(items.slice(index, index + skipped + 1)))
      continue
    }
    const at = star >= 0 && index > star ? index + skipped : index
    yield matchPattern(matching, pattern, items[at] ?? null)
  }
}

function matchMapping(matching: Matching, pattern: PatternOf<'MatchMapping'>, value: Value): Truth {
  const { rt, scope } = matching
  const inner = payloadOf(value)
  if (!isObject(inner)) return false
  if (inner.kind === 'unknown') return matchUnknownItems(matching, pattern.patterns)
  if (inner.kind !== 'dict') return false
  const keys = pattern.keys.map((key) => hashKey(rt, evaluateSafely(rt, key, scope)))
  const parts = keys.map((hash, index): Truth => {
    const part = pattern.patterns[index]
    const entry = hash === undefined ? undefined : dictGet(inner, hash)
    if (entry === undefined || part === undefined) return inner.rest ? undefined : false
    return matchPattern(matching, part, entry)
  })
  if (pattern.rest !== undefined)
    matching.captured.set(pattern.rest, without(rt, inner, new Set(keys)))
  return all(parts)
}

function without(rt: Runtime, dict: DictValue, keys: ReadonlySet<unknown>): Value {
  const left = makeEmptyDict(dict.rest)
  for (const [hash, value] of dict.values)
    if (!keys.has(hash)) setEntry(rt, left, dictKey(dict, hash), value)
  return left
}

// Classes whose one positional pattern is the value itself.
const SELF_MATCHING = new Set(words('str int float bool bytes list tuple dict set frozenset'))

function matchClass(matching: Matching, pattern: PatternOf<'MatchClass'>, value: Value): Truth {
  const { rt, scope } = matching
  const cls = evaluateSafely(rt, pattern.cls, scope)
  const fits = isInstance(rt, value, cls)
  if (fits === false) return false
  const positional = pattern.patterns.map((part, index) =>
    matchPattern(matching, part, attributeAt(rt, cls, value, index)),
  )
  const named = pattern.keywords.map(({ name, pattern: part }): Truth => {
    const inner = findAttribute(rt, value, name)
    return inner !== undefined && matchPattern(matching, part, inner)
  })
  return all([fits, ...positional, ...named])
}

function attributeAt(rt: Runtime, cls: Value, value: Value, index: number): Value {
  const known = isClass(cls) ? cls : undefined
  if (known?.module === 'builtins' && SELF_MATCHING.has(known.name)) return value
  const names = known ? findInClass(rt, known, '__match_args__') : undefined
  const name = isTuple(names) ? names.items[index] : undefined
  return typeof name === 'string' ? getAttribute(rt, value, name) : makeUnknown('item')
}
