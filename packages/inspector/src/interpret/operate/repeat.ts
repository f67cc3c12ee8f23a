import type { Runtime } from '../runtime.ts'
import { isObject } from '../values/guards.ts'
import { makeUnknown, unknownResult } from '../values/make-value.ts'
import { numberOf } from '../values/payload.ts'
import type { ListValue, TupleValue, Value } from '../values/value.ts'

/** `sequence * times`. */
export function repeat(rt: Runtime, sequence: Value, times: Value): Value {
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
  if (times > stringLength || !rt.budget.allowString(text.length * Number(times)))
    return tooLong(rt)
  return text.repeat(Number(times))
}

function tooLong(rt: Runtime): Value {
  rt.budget.spent('string')
  return makeUnknown('str')
}

function repeatItems(rt: Runtime, { kind, items, rest }: ListValue | TupleValue, times: bigint) {
  const most = rt.budget.limits.repeatedItems
  const tooMany = items.length > 0 && (times > most || items.length * Number(times) > most)
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
