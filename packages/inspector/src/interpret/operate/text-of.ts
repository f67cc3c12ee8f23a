import { callSpecial } from '../run-code.ts'
import { isInstance } from './is-instance.ts'
import type { InstanceValue, ObjectValue, Runtime, Value } from '../types.ts'
import { formatText } from '../text/format/align.ts'
import { formatFloat, formatInt } from '../text/format/format-number.ts'
import { reprFloat, reprInt, reprText } from '../text/repr.ts'
import { dictEntries } from '../values/dict.ts'
import { isObject, isSequence, isSet, isTuple, payloadOf, textOf } from '../values/read-value.ts'
import { counted } from '../../words.ts'

// Deeper ones print nothing that a name could hold.
const REPR_DEPTH = 20

/** `str(value)`, undefined if it can't be known. */
export function strOf(rt: Runtime, value: Value): string | undefined {
  if (typeof value === 'string') return value
  if (!isObject(value)) return reprOf(rt, value)
  if (value.kind !== 'instance') return reprOf(rt, value)
  const own = callSpecial(rt, value, '__str__', [])
  if (own !== undefined) return textOf(own)
  if (typeof value.payload === 'string') return value.payload
  if (isInstance(rt, value, rt.builtinClass('BaseException')) === true)
    return strOfException(rt, value)
  return reprOf(rt, value)
}

function strOfException(rt: Runtime, value: InstanceValue): string | undefined {
  const args = value.attributes.get('args')
  if (!isTuple(args)) return undefined
  const [first, parts] = args.items
  if (first === undefined) return args.rest ? undefined : ''
  if (isSequence(parts) && isInstance(rt, value, rt.builtinClass('ExceptionGroup')) === true)
    return `${strOf(rt, first)} (${counted(parts.items.length, 'sub-exception')})`
  if (args.items.length > 1) return reprOf(rt, args)
  return value.cls.name === 'KeyError' ? reprOf(rt, first) : strOf(rt, first)
}

/** Returns `repr(value)`; undefined if it can't be known: the default one holds an address. */
export function reprOf(rt: Runtime, value: Value, depth = 0): string | undefined {
  switch (typeof value) {
    case 'string':
      return reprText(value)
    case 'bigint':
      return reprInt(value)
    case 'number':
      return reprFloat(value)
    case 'boolean':
      return value ? 'True' : 'False'
    default:
      if (value === null) return 'None'
      return depth > REPR_DEPTH ? undefined : reprObject(rt, value, depth + 1)
  }
}

function reprObject(rt: Runtime, value: ObjectValue, depth: number): string | undefined {
  switch (value.kind) {
    case 'list':
      return value.rest ? undefined : wrap('[', reprItems(rt, value.items, depth), ']')
    case 'tuple':
      return value.rest
        ? undefined
        : wrap('(', reprItems(rt, value.items, depth), value.items.length === 1 ? ',)' : ')')
    case 'dict':
      return value.rest ? undefined : wrap('{', reprEntries(rt, dictEntries(value), depth), '}')
    case 'singleton':
      return value.name
    case 'class':
      return reprClass(rt, value)
    case 'instance':
      return reprInstance(rt, value, depth)
    default:
      return undefined
  }
}

function wrap(open: string, inner: string | undefined, close: string): string | undefined {
  return inner === undefined ? undefined : open + inner + close
}

function reprItems(rt: Runtime, items: Value[], depth: number): string | undefined {
  return joinTexts(rt, items, (item) => reprOf(rt, item, depth))
}

function reprEntries(rt: Runtime, entries: [Value, Value][], depth: number): string | undefined {
  return joinTexts(rt, entries, ([key, value]) => {
    const [text, other] = [reprOf(rt, key, depth), reprOf(rt, value, depth)]
    return text === undefined || other === undefined ? undefined : `${text}: ${other}`
  })
}

/** The texts of all items; undefined where that of one is, and over the cap. */
function joinTexts<Item>(
  rt: Runtime,
  items: Item[],
  textFor: (item: Item) => string | undefined,
): string | undefined {
  const texts: string[] = []
  let length = 0
  for (const item of items) {
    const text = textFor(item)
    rt.budget.step(1)
    if (text === undefined) return undefined
    texts.push(text)
    length += text.length
    if (length > rt.budget.limits.stringLength) return undefined
  }
  return texts.join(', ')
}

function reprClass(rt: Runtime, value: ObjectValue & { kind: 'class' }): string | undefined {
  const own = callSpecial(rt, value, '__repr__', [])
  if (own !== undefined) return textOf(own)
  const place = value.module === 'builtins' ? '' : `${value.module}.`
  return `<class '${place}${value.qualname}'>`
}

function reprInstance(rt: Runtime, value: InstanceValue, depth: number): string | undefined {
  const own = callSpecial(rt, value, '__repr__', [])
  if (own !== undefined) return textOf(own)
  return value.payload === undefined || isSet(value.payload)
    ? undefined
    : reprOf(rt, value.payload, depth)
}

/** `format(value, spec)`, undefined if it can't be known. */
export function formatValue(rt: Runtime, value: Value, spec: string): string | undefined {
  const own = callSpecial(rt, value, '__format__', [spec])
  if (own !== undefined) return textOf(own)
  if (spec === '') return strOf(rt, value)
  const inner = payloadOf(value)
  if (typeof inner === 'boolean') return formatInt(BigInt(inner), spec)
  if (typeof inner === 'bigint') return formatInt(inner, spec)
  if (typeof inner === 'number') return formatFloat(inner, spec)
  return typeof inner === 'string' ? formatText(inner, spec) : undefined
}
