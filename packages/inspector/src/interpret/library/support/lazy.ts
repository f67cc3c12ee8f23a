import { iterate } from '../../operate/iterate.ts'
import { makeIterator } from '../../values/make-value.ts'
import type { IteratorValue, Runtime, Value } from '../../types.ts'

/** Says at the end whether more may have followed. */
export interface LazyEnd {
  rest: boolean
}

/** An iterator of Python over a generator of ours, which takes a step of the budget for each sixteen items. */
export const makeLazy = (
  rt: Runtime,
  generate: (end: LazyEnd) => Generator<Value, void>,
): IteratorValue => {
  const end: LazyEnd = { rest: false }
  const items = generate(end)
  let count = 0
  const iterator = makeIterator('generator', () => {
    count += 1
    if ((count & 15) === 0) rt.budget.step(1)
    const { done, value } = items.next()
    iterator.rest = end.rest
    return done === true ? undefined : value
  })
  return iterator
}

/**
 * Every item of a value, as it comes; at its end `end.rest` is set if more may follow. Takes a step for each, since who
 * looks for one may pass over endlessly many.
 */
export function* eachItem(rt: Runtime, value: Value, end: LazyEnd): Generator<Value, void> {
  const iterator = iterate(rt, value)
  if (iterator === undefined) {
    end.rest = true
    return
  }
  for (let item = iterator.next(); item !== undefined; item = iterator.next()) {
    rt.budget.step(1)
    yield item
  }
  if (iterator.rest) end.rest = true
}
