import { evaluate } from '../run-code.ts'
import { isSet, isUnknown, payloadOf } from '../values/read-value.ts'
import { readItems } from '../operate/iterate.ts'
import { mapChoice } from '../values/merge-values.ts'
import { binary } from '../operate/operator.ts'
import {
  inheritUndecided,
  makeEmptyDict,
  makeList,
  makeTuple,
  makeUnknown,
  orElse,
} from '../values/make-value.ts'
import { addToDict, asNew, makeSet, setEntry } from '../operate/mapping.ts'
import type { Runtime, Scope, Value } from '../types.ts'
import type {
  Dict,
  Expression,
  FormattedValue,
  JoinedStr,
  List,
  Set,
  Tuple,
} from '../../python/ast.ts'
import { formatValue, reprOf, strOf } from '../operate/text-of.ts'

/** `[a, *b]`, `(a, *b)`. */
export function evaluateSequence(rt: Runtime, node: Tuple | List, scope: Scope): Value {
  const { items, rest, starred } = evaluateItems(rt, node.items, scope)
  if (!rt.budget.allowItems(items.length)) return makeUnknown('items')
  const made = node.kind === 'List' ? makeList(items, rest) : makeTuple(items, rest)
  return inheritUndecided(made, ...starred)
}

/** Expressions with stars among them. */
export function evaluateItems(
  rt: Runtime,
  nodes: readonly Expression[],
  scope: Scope,
): { items: Value[]; rest: boolean; starred: Value[] } {
  const items: Value[] = []
  const starred: Value[] = []
  let rest = false
  for (const node of nodes) {
    const value = evaluate(rt, node, scope)
    if (rest) rt.state.guesses += 1
    if (node.kind !== 'Starred') {
      items.push(value)
      continue
    }
    const read = readItems(rt, value)
    // Not spread into push: the stack can't take many arguments.
    for (const item of read.items) items.push(item)
    rest ||= read.rest
    starred.push(payloadOf(value))
  }
  return { items, rest, starred }
}

/** `{a, *b}`. */
export function evaluateSet(rt: Runtime, node: Set, scope: Scope): Value {
  const { items, rest } = evaluateItems(rt, node.items, scope)
  if (!rt.budget.allowItems(items.length)) return makeUnknown('items')
  const set = makeSet(rt, items)
  if (isSet(set) && rest) set.rest = true
  return set
}

/** `{a: b, **c}`. */
export function evaluateDict(rt: Runtime, node: Dict, scope: Scope): Value {
  if (!rt.budget.allowItems(node.items.length)) return makeUnknown('items')
  const dict = makeEmptyDict()
  for (const { key, value } of node.items) {
    if (key === undefined) addToDict(rt, dict, evaluate(rt, value, scope))
    else {
      const hashed = evaluate(rt, key, scope)
      setEntry(rt, dict, hashed, evaluate(rt, value, scope))
    }
  }
  return asNew(rt, dict)
}

/** An f-string; unknown as soon as one of its parts is. */
export function evaluateFormatted(rt: Runtime, node: JoinedStr, scope: Scope): Value {
  const pieces = node.values.map((part) =>
    typeof part === 'string' ? part : evaluateField(rt, part, scope),
  )
  const unknown = pieces.find((piece) => isUnknown(piece) && !piece.oneOf)
  if (unknown) return makeUnknown('f-string')
  return pieces.reduce((text, piece) => binary(rt, '+', text, piece), '')
}

function evaluateField(rt: Runtime, field: FormattedValue, scope: Scope): Value {
  const value = evaluate(rt, field.value, scope)
  const spec = field.spec ? evaluateFormatted(rt, field.spec, scope) : ''
  return orElse(
    mapChoice(value, (choice) => formatField(rt, choice, spec, field)),
    () => formatField(rt, value, spec, field),
  )
}

function formatField(
  rt: Runtime,
  value: Value,
  spec: Value,
  { conversion }: FormattedValue,
): Value {
  if (typeof spec !== 'string') return makeUnknown('f-string')
  const converted = convert(rt, value, conversion)
  const text = converted === undefined ? undefined : formatValue(rt, converted, spec)
  return orElse(text, () => makeUnknown('f-string'))
}

/** `!s`, `!r`, `!a`. */
export function convert(
  rt: Runtime,
  value: Value,
  conversion: 'r' | 's' | 'a' | undefined,
): Value | undefined {
  if (conversion === undefined) return value
  if (conversion === 's') return strOf(rt, value)
  return conversion === 'r' ? reprOf(rt, value) : undefined
}
