import { isClass, isObject, isTuple } from '../values/guards.ts'
import { findInClass } from '../operate/class-lookup.ts'
import { findAttribute, getAttribute } from '../operate/attribute.ts'
import { isInstance } from '../operate/is-instance.ts'
import { hashKey } from '../operate/hash-key.ts'
import { readItems } from '../operate/iterate.ts'
import { evaluateSafely } from '../evaluate/expression.ts'
import { equals, identical } from '../operate/compare.ts'
import type { Pattern } from '../../python/ast.ts'
import { dictGet, dictKey } from '../values/dict.ts'
import { makeEmptyDict, makeList, makeUnknown } from '../values/make-value.ts'
import { setEntry } from '../operate/mapping.ts'
import { payloadOf } from '../values/payload.ts'
import type { Runtime } from '../runtime.ts'
import type { Scope } from '../values/scope.ts'
import type { DictValue, Truth, Value } from '../values/value.ts'

type Captured = Map<string, Value>

/** Whether the value fits; names it captures go into `captured`. Undefined if it can't be decided. */
export function matchPattern(
  rt: Runtime,
  pattern: Pattern,
  value: Value,
  scope: Scope,
  captured: Captured,
): Truth {
  rt.budget.step(1)
  switch (pattern.kind) {
    case 'MatchValue':
      return equals(rt, value, evaluateSafely(rt, pattern.value, scope))
    case 'MatchSingleton':
      return identical(rt, value, pattern.value)
    case 'MatchAs':
      return matchAs(rt, pattern, value, scope, captured)
    case 'MatchStar':
      return true
    case 'MatchOr':
      return matchOr(rt, pattern.patterns, value, scope, captured)
    case 'MatchSequence':
      return matchSequence(rt, pattern.patterns, value, scope, captured)
    case 'MatchMapping':
      return matchMapping(rt, pattern, value, scope, captured)
    case 'MatchClass':
      return matchClass(rt, pattern, value, scope, captured)
  }
}

function matchAs(
  rt: Runtime,
  { pattern, name }: Pattern & { kind: 'MatchAs' },
  value: Value,
  scope: Scope,
  captured: Captured,
): Truth {
  const fits = pattern ? matchPattern(rt, pattern, value, scope, captured) : true
  if (fits !== false && name !== undefined) captured.set(name, value)
  return fits
}

function matchOr(
  rt: Runtime,
  patterns: Pattern[],
  value: Value,
  scope: Scope,
  captured: Captured,
): Truth {
  let decided: Truth = false
  for (const pattern of patterns) {
    const fits = matchPattern(rt, pattern, value, scope, captured)
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

function matchSequence(
  rt: Runtime,
  patterns: Pattern[],
  value: Value,
  scope: Scope,
  captured: Captured,
): Truth {
  const inner = payloadOf(value)
  if (!isObject(inner)) return false
  if (inner.kind === 'unknown') return matchUnknownItems(rt, patterns, scope, captured)
  if (inner.kind !== 'list' && inner.kind !== 'tuple' && inner.kind !== 'range') return false
  const { items, rest } = readItems(rt, inner)
  const star = patterns.findIndex((pattern) => pattern.kind === 'MatchStar')
  const tooShort = items.length < patterns.length - (star < 0 ? 0 : 1)
  if (!rest && (tooShort || (star < 0 && items.length > patterns.length))) return false
  if (rest) return matchUnknownItems(rt, patterns, scope, captured)
  return all(matchItems(rt, { patterns, items, star }, scope, captured))
}

/** Every name is captured as an unknown. */
function matchUnknownItems(
  rt: Runtime,
  patterns: Pattern[],
  scope: Scope,
  captured: Captured,
): undefined {
  for (const pattern of patterns) {
    if (pattern.kind === 'MatchStar') captureStar(pattern, makeList([], true), captured)
    else matchPattern(rt, pattern, makeUnknown('item'), scope, captured)
  }
}

function captureStar(
  { name }: Pattern & { kind: 'MatchStar' },
  value: Value,
  captured: Captured,
): void {
  if (name !== undefined) captured.set(name, value)
}

function* matchItems(
  rt: Runtime,
  { patterns, items, star }: { patterns: Pattern[]; items: Value[]; star: number },
  scope: Scope,
  captured: Captured,
): Generator<Truth> {
  const skipped = items.length - patterns.length
  for (const [index, pattern] of patterns.entries()) {
    if (pattern.kind === 'MatchStar') {
      captureStar(pattern, makeList(items.slice(index, index + skipped + 1)), captured)
      continue
    }
    const at = star >= 0 && index > star ? index + skipped : index
    yield matchPattern(rt, pattern, items[at] ?? null, scope, captured)
  }
}

function matchMapping(
  rt: Runtime,
  pattern: Pattern & { kind: 'MatchMapping' },
  value: Value,
  scope: Scope,
  captured: Captured,
): Truth {
  const inner = payloadOf(value)
  if (!isObject(inner)) return false
  if (inner.kind === 'unknown') return matchUnknownItems(rt, pattern.patterns, scope, captured)
  if (inner.kind !== 'dict') return false
  const keys = pattern.keys.map((key) => hashKey(rt, evaluateSafely(rt, key, scope)))
  const parts = keys.map((hash, index): Truth => {
    const part = pattern.patterns[index]
    const entry = hash === undefined ? undefined : dictGet(inner, hash)
    if (entry === undefined || part === undefined) return inner.rest ? undefined : false
    return matchPattern(rt, part, entry, scope, captured)
  })
  if (pattern.rest !== undefined) captured.set(pattern.rest, without(rt, inner, new Set(keys)))
  return all(parts)
}

function without(rt: Runtime, dict: DictValue, keys: ReadonlySet<unknown>): Value {
  const left = makeEmptyDict(dict.rest)
  for (const [hash, value] of dict.values)
    if (!keys.has(hash)) setEntry(rt, left, dictKey(dict, hash), value)
  return left
}

// Classes whose one positional pattern is the value itself.
const SELF_MATCHING = new Set([
  'str',
  'int',
  'float',
  'bool',
  'bytes',
  'list',
  'tuple',
  'dict',
  'set',
  'frozenset',
])

function matchClass(
  rt: Runtime,
  pattern: Pattern & { kind: 'MatchClass' },
  value: Value,
  scope: Scope,
  captured: Captured,
): Truth {
  const cls = evaluateSafely(rt, pattern.cls, scope)
  const fits = isInstance(rt, value, cls)
  if (fits === false) return false
  const positional = pattern.patterns.map((part, index): Truth => {
    const inner = attributeAt(rt, cls, value, index)
    return matchPattern(rt, part, inner, scope, captured)
  })
  const named = pattern.keywords.map(({ name, pattern: part }): Truth => {
    const inner = findAttribute(rt, value, name)
    return inner !== undefined && matchPattern(rt, part, inner, scope, captured)
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
