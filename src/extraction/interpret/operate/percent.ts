import { isDict, isTuple, isUnknown } from '../values/guards.ts'
import { reprOf, strOf } from './text-of.ts'
import { getEntry } from './mapping.ts'
import { numberOf, payloadOf } from '../values/payload.ts'
import type { Runtime } from '../runtime.ts'
import { formatPercent } from '../text/format/percent.ts'
import { escapeNonAscii } from '../text/repr.ts'
import type { Value } from '../values/value.ts'

/** `template % value`; undefined if it can't be known. */
export function percent(rt: Runtime, template: string, value: Value): Value | undefined {
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

function textFor(rt: Runtime, value: Value, how: 's' | 'r' | 'a'): string | undefined {
  if (how === 's') return strOf(rt, value)
  const text = reprOf(rt, value)
  return how === 'r' || text === undefined ? text : escapeNonAscii(text)
}
