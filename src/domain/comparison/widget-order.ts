import type { InputForm } from './host-node-form.ts'

/**
 * Inputs by what their widgets do to saved graphs, which keep values by position. One that comes or goes behind all others
 * moves no value.
 */
export type WidgetOrder = Record<'removed' | 'inserted' | 'moved', ReadonlySet<string>>

export const compareWidgets = (
  before: readonly InputForm[],
  after: readonly InputForm[],
): WidgetOrder => {
  const [old, now] = [placesOf(before), placesOf(after)]
  const kept = [...old.keys()].filter((row) => now.has(row))
  const keptNow = [...now.keys()].filter((row) => old.has(row))
  const shifted = kept.filter((row) => old.get(row) !== now.get(row))
  const findLone = (rows: Places, others: Places): Set<string> => {
    const last = shifted.reduce((last, row) => Math.max(last, rows.get(row) ?? 0), -1)
    const lone = [...rows].filter(([row, place]) => place < last && !others.has(row))
    return inputsOf(lone.map(([row]) => row))
  }
  return {
    removed: findLone(old, now),
    inserted: findLone(now, old),
    moved: inputsOf(kept.filter((row, place) => keptNow[place] !== row)),
  }
}

type Places = ReadonlyMap<string, number>

/** Behind the name of a row below a widget; no name holds NUL. */
const CONTROL = '\0'

const placesOf = (inputs: readonly InputForm[]): Places =>
  new Map(
    inputs
      .filter(({ hasWidget }) => hasWidget)
      .flatMap(({ name, hasControl }) => (hasControl ? [name, name + CONTROL] : [name]))
      .map((row, place) => [row, place]),
  )

const inputsOf = (rows: readonly string[]): Set<string> =>
  new Set(rows.map((row) => row.replace(CONTROL, '')))
