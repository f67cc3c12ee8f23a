/** Least, middle and greatest of some measurements. */
export interface Spread {
  min: number
  median: number
  max: number
}

export const spread = (values: readonly number[]): Spread => {
  const sorted = values.toSorted((a, b) => a - b)
  return { min: at(sorted, 0), median: at(sorted, 0.5), max: at(sorted, 1) }
}

/** Finds the sorted value that a share of the others is below. */
export const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.round((sorted.length - 1) * share)] ?? Number.NaN

export const median = (values: readonly number[]): number => spread(values).median

const round = (value: number): string =>
  value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)

/** One line of a table: what was measured, over how many rounds. */
export const showSpread = (name: string, values: readonly number[], unit: string): void => {
  const { min, median: middle, max } = spread(values)
  say(
    `${name.padEnd(44)} min ${round(min)}  median ${round(middle)}  max ${round(max)} ${unit} (${values.length} rounds)`,
  )
}

type Aim = { atMost: number } | { atLeast: number }

/** Prints one line for a result, in the form that a script can read: `<bench>.<name> <value> <unit> aim <= <number> ok`. */
export const showResult = (
  name: string,
  value: number,
  { unit, ...aim }: Aim & { unit: string },
): void => {
  const [sign, limit] = 'atMost' in aim ? ['<=', aim.atMost] : ['>=', aim.atLeast]
  const met = sign === '<=' ? value <= limit : value >= limit
  say(`${name} ${round(value)} ${unit} aim ${sign} ${limit} ${met ? 'ok' : 'short'}`)
}

type Pair = readonly [values: readonly number[], base: readonly number[]]

/** Prints the ratio of a median to the median of its baseline. */
export const showRatio = (name: string, [values, base]: Pair, aim: Aim): void =>
  showResult(name, median(values) / median(base), { unit: 'x', ...aim })

/** The middle of the ratios of each round: what else the machine does then weighs on both sides. */
export const showPaired = (name: string, [values, base]: Pair, aim: Aim): void => {
  const ratios = values.map((value, round) => value / (base[round] ?? Number.NaN))
  showResult(name, median(ratios), { unit: 'x', ...aim })
}

export const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}
