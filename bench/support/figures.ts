/** Least, middle and greatest of some measurements. */
export interface Spread {
  min: number
  median: number
  max: number
}

export const spread = (values: readonly number[]): Spread => {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number): number =>
    sorted[Math.round((sorted.length - 1) * share)] ?? Number.NaN
  return { min: at(0), median: at(0.5), max: at(1) }
}

const round = (value: number): string =>
  value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)

/** One line of a table: what was measured, over how many rounds. */
export const showSpread = (name: string, values: readonly number[], unit: string): void => {
  const { min, median, max } = spread(values)
  say(
    `${name.padEnd(44)} min ${round(min)}  median ${round(median)}  max ${round(max)} ${unit} (${values.length} rounds)`,
  )
}

/** One line for each figure, in the form that a script can read: `<bench>.<figure> <value> <unit> aim <= <number> ok`. */
export const showFigure = (
  name: string,
  value: number,
  { unit, aim, atMost }: { unit: string; aim: number; atMost: boolean },
): void => {
  const met = atMost ? value <= aim : value >= aim
  say(`${name} ${round(value)} ${unit} aim ${atMost ? '<=' : '>='} ${aim} ${met ? 'ok' : 'short'}`)
}

export const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}
