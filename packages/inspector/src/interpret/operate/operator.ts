import { callSpecial } from '../run-code.ts'
import { kindFor } from './compare.ts'
import { getEntry } from './mapping.ts'
import { putInto } from './not-followed.ts'
import { raiseIfCertain } from './raise.ts'
import { combineSets } from './set-operation.ts'
import { reprOf, strOf } from './text-of.ts'
import type { DictValue, ListValue, ObjectValue, Runtime, TupleValue, Value } from '../types.ts'
import { formatPercent } from '../text/format/percent.ts'
import { arithmetic } from '../text/number/arithmetic.ts'
import { dictCopy, dictUpdate } from '../values/dict.ts'
import {
  isDict,
  isNotImplemented,
  isObject,
  isTuple,
  isUnknown,
  numberOf,
  payloadOf,
} from '../values/read-value.ts'
import { mapChoice } from '../values/merge-values.ts'
import {
  inheritUndecided,
  makeList,
  makeTuple,
  makeUnknown,
  orElse,
  unknownResult,
} from '../values/make-value.ts'

export const METHODS = new Map([
  ['+', 'add'],
  ['-', 'sub'],
  ['*', 'mul'],
  ['/', 'truediv'],
  ['//', 'floordiv'],
  ['%', 'mod'],
  ['**', 'pow'],
  ['@', 'matmul'],
  ['&', 'and'],
  ['|', 'or'],
  ['^', 'xor'],
  ['<<', 'lshift'],
  ['>>', 'rshift'],
])

/** `left op right`; unknown where Python would raise. */
export function binary(rt: Runtime, op: string, left: Value, right: Value): Value {
  if (typeof left === 'string' && typeof right === 'string' && op === '+')
    return concatenate(rt, left, right)
  const isPlain = !isObject(left) && !isObject(right)
  if (isPlain) return byType(rt, op, left, right)
  if (isUnknown(left)) putInto(rt, left, right)
  const chosen =
    mapChoice(left, (choice) => binary(rt, op, choice, right)) ??
    mapChoice(right, (choice) => binary(rt, op, left, choice))
  if (chosen !== undefined) return chosen
  return orElse(bySpecial(rt, op, left, right), () =>
    byType(rt, op, payloadOf(left), payloadOf(right)),
  )
}

function concatenate(rt: Runtime, left: string, right: string): Value {
  return rt.budget.allowString(left.length + right.length) ? left + right : makeUnknown('str')
}

function bySpecial(rt: Runtime, op: string, left: Value, right: Value): Value | undefined {
  const name = METHODS.get(op)
  const forward = callSpecial(rt, left, `__${name}__`, [right])
  if (forward !== undefined && !isNotImplemented(forward)) return forward
  const backward = callSpecial(rt, right, `__r${name}__`, [left])
  return backward === undefined || isNotImplemented(backward) ? undefined : backward
}

function byType(rt: Runtime, op: string, left: Value, right: Value): Value {
  const [a, b] = [numberOf(left), numberOf(right)]
  if (a !== undefined && b !== undefined) return ofNumbers(rt, op, left, right)
  if (isMismatch(op, left, right))
    raiseIfCertain(rt, 'TypeError', `unsupported operand type(s) for ${op}`)
  if (typeof left === 'string') return ofText(rt, op, left, right)
  if (op === '*' && b === undefined) return repeat(rt, right, left)
  if (op === '*') return repeat(rt, left, right)
  if (isObject(left)) return ofObject(rt, op, left, right)
  return unknownResult(left, right)
}

const JOINED = new Set(['str', 'list', 'tuple', 'bytes'])
const PLAIN = new Set([...JOINED, 'None', 'number', 'dict', 'set'])

/** True for two plain values that Python can't add, subtract or divide. */
function isMismatch(op: string, left: Value, right: Value): boolean {
  const [one, other] = [kindFor(left), kindFor(right)]
  if (!PLAIN.has(one) || !PLAIN.has(other)) return false
  if (op === '+') return one !== other || !JOINED.has(one)
  return (op === '-' && (one !== 'set' || other !== 'set')) || op === '/' || op === '//'
}

function ofNumbers(rt: Runtime, op: string, left: Value, right: Value): Value {
  if (typeof left === 'boolean' && typeof right === 'boolean') {
    if (op === '&') return left && right
    if (op === '|') return left || right
    if (op === '^') return left !== right
  }
  const [a, b] = [numberOf(left) ?? 0n, numberOf(right) ?? 0n]
  const result = arithmetic(op, a, b)
  if (result !== undefined) return result
  if (op === '**' || op === '<<') rt.budget.spent('number')
  // oxlint-disable-next-line eqeqeq
  if (b == 0 && (op === '/' || op === '//' || op === '%'))
    raiseIfCertain(rt, 'ZeroDivisionError', 'division by zero')
  return makeUnknown('number')
}

function ofText(rt: Runtime, op: string, left: string, right: Value): Value {
  if (op === '%') return percent(rt, left, right) ?? unknownResult(left, right)
  if (op === '*') return repeat(rt, left, right)
  if (op === '+' && typeof right === 'string') return concatenate(rt, left, right)
  return unknownResult(left, right)
}

function ofObject(rt: Runtime, op: string, left: ObjectValue, right: Value): Value {
  if (op === '+' && (left.kind === 'list' || left.kind === 'tuple'))
    return appendItems(rt, left, right)
  if (op === '|' && left.kind === 'dict') return joinDicts(rt, left, right)
  const combined = combineSets(rt, op, left, right)
  return combined ?? unknownResult(left, right)
}

function appendItems(rt: Runtime, left: ListValue | TupleValue, right: Value): Value {
  const other = isUnknown(right)
    ? { items: [], rest: true }
    : typeof right === 'object' && right?.kind === left.kind
      ? right
      : undefined
  if (other === undefined) return unknownResult(left, right)
  if (!rt.budget.allowItems(left.items.length + other.items.length)) return makeUnknown(left.kind)
  if (left.rest) rt.state.guesses += 1
  const items = [...left.items, ...other.items]
  const rest = left.rest || other.rest
  const made = left.kind === 'list' ? makeList(items, rest) : makeTuple(items, rest)
  return inheritUndecided(made, left, right)
}

function joinDicts(rt: Runtime, left: DictValue, right: Value): Value {
  const joined = dictCopy(left)
  const other = isDict(right)
  if (!other && !isUnknown(right)) return unknownResult(left, right)
  if (!rt.budget.allowItems(left.values.size + (other ? right.values.size : 0)))
    return makeUnknown('dict')
  if (other) dictUpdate(joined, right)
  else joined.rest = true
  return joined
}

/** `-value`, `+value`, `~value`. */
export function negate(rt: Runtime, op: '-' | '+' | '~', value: Value): Value {
  const name = op === '-' ? '__neg__' : op === '+' ? '__pos__' : '__invert__'
  const own = callSpecial(rt, value, name, [])
  if (own !== undefined) return own
  const number = numberOf(value)
  if (number === undefined)
    return makeUnknown('operation()', isUnknown(value) ? value.origin : 'pack')
  if (op === '+') return number
  if (op === '-') return -number
  return typeof number === 'bigint' ? ~number : makeUnknown('operation()')
}

/** `template % value`; undefined if it can't be known. */
function percent(rt: Runtime, template: string, value: Value): Value | undefined {
  if (isUnknown(value)) return undefined
  const inner = payloadOf(value)
  if (isTuple(inner) && inner.rest) return undefined
  const items = isTuple(inner) ? inner.items : [value]
  const dict = isDict(inner) ? inner : undefined
  let index = 0
  const text = formatPercent<Value>(template, {
    next: () => items[index++],
    byKey: (key) => (dict ? getEntry(rt, dict, key) : undefined),
    isUsedUp: () => dict !== undefined || index >= items.length,
    text: (item, how) => textFor(rt, item, how),
    number: (item) => numberOf(item),
  })
  return text === undefined || !rt.budget.allowString(text.length) ? undefined : text
}

function textFor(rt: Runtime, value: Value, how: 's' | 'r'): string | undefined {
  return how === 's' ? strOf(rt, value) : reprOf(rt, value)
}

/** `sequence * times`. */
function repeat(rt: Runtime, sequence: Value, times: Value): Value {
  const count = numberOf(times)
  if (typeof count !== 'bigint') return unknownResult(sequence, times)
  if (typeof sequence === 'string') return repeatText(rt, sequence, count)
  if (!isObject(sequence)) return makeUnknown('repeat')
  if (sequence.kind !== 'list' && sequence.kind !== 'tuple') return makeUnknown('repeat')
  return repeatItems(rt, sequence, count)
}

function repeatText(rt: Runtime, text: string, times: bigint): Value {
  if (times <= 0n || text === '') return ''
  const { stringLength } = rt.budget.limits
  if (times <= stringLength && rt.budget.allowString(text.length * Number(times)))
    return text.repeat(Number(times))
  rt.budget.spent('string')
  return makeUnknown('str')
}

function repeatItems(rt: Runtime, { kind, items, rest }: ListValue | TupleValue, times: bigint) {
  const max = rt.budget.limits.repeatedItems
  const tooMany = items.length > 0 && (times > max || items.length * Number(times) > max)
  if (tooMany) {
    rt.budget.spent('items')
    return makeUnknown(kind)
  }
  const repeated: Value[] = []
  if (items.length > 0)
    for (let round = 0; round < Number(times); round += 1)
      for (const item of items) repeated.push(item)
  if (!rt.budget.allowItems(repeated.length)) return makeUnknown(kind)
  return { kind, items: repeated, rest } as Value
}
