import { say, showResult, spread } from '../support/results.ts'
import { middle, ratio } from './measure.ts'
import type { Measured } from './measure.ts'

const RATIO_AIM = 2
const P99_AIM_MS = 50

/** A row of the table: times and rates, then the ratios, which are longer. */
const write = (name: string, numbers: readonly string[], ratios: readonly string[]): void =>
  say(
    name.padEnd(20) +
      numbers.map((cell) => cell.padStart(9)).join('') +
      ratios.map((cell) => cell.padStart(19)).join(''),
  )

export const showHead = (load: number): void => {
  say(`load of the machine before: ${load.toFixed(1)}; middle of the rounds, ratios with min..max`)
  const side = ['p99 ms', 'req/s']
  write('', ['at', 'http p50', ...side, 'bare p50', ...side, 'sql p50'], ['p50 x', 'p99 x'])
}

/** With the milliseconds that the statements take at the middle. */
export const showRow = (measured: Measured, sqlMs: number): void => {
  const { shape, concurrency, http, bare } = measured
  const sides = [http, bare].flatMap((rounds) => [
    middle(rounds, 'p50').toFixed(2),
    middle(rounds, 'p99').toFixed(2),
    middle(rounds, 'rate').toFixed(0),
  ])
  const ratios = [writeRatio(measured, 'p50'), writeRatio(measured, 'p99')]
  write(shape.name, [String(concurrency), ...sides, sqlMs.toFixed(2)], ratios)
  const rejected = middle(http, 'rejected')
  if (rejected > 0)
    say(`  ${(100 * rejected).toFixed(1)} % of them were rejected with 503, after 1.8 s`)
}

/** The ratio of the middles, and of the rounds as they followed each other. */
const writeRatio = (measured: Measured, result: 'p50' | 'p99'): string => {
  const { http, bare } = measured
  const each = http.map((round, at) => round[result] / (bare[at]?.[result] ?? Number.NaN))
  const { min, max } = spread(each)
  return `${ratio(measured, result).toFixed(2)} (${min.toFixed(2)}..${max.toFixed(2)})`
}

export const showResults = (all: readonly Measured[]): void => {
  for (const measured of all) {
    const { shape, concurrency } = measured
    for (const result of ['p50', 'p99'] as const) {
      const name = `search.${shape.name}.${result}.${concurrency}`
      showResult(name, ratio(measured, result), { unit: 'x', atMost: RATIO_AIM })
    }
    const p99 = { unit: 'ms', atMost: P99_AIM_MS }
    if (concurrency === 1)
      showResult(`search.${shape.name}.p99-ms`, middle(measured.http, 'p99'), p99)
  }
}
