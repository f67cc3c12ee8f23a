import { say, showFigure, showSpread, spread } from '../support/figures.ts'
import { middle, ratio } from './measure.ts'
import type { Measured, Round } from './measure.ts'
import type { Walk } from './walk.ts'

const RATIO_AIM = 2
const P99_AIM_MS = 50

const COLUMNS = [
  ['', 38],
  ['at', 3],
  ['http p50', 9],
  ['p99 ms', 9],
  ['req/s', 7],
  ['bare p50', 9],
  ['p99 ms', 9],
  ['req/s', 7],
  ['p50 x', 17],
  ['p99 x', 17],
  ['sql p50', 9],
] as const

const write = (cells: readonly string[]): void =>
  say(
    cells
      .map((cell, at) => {
        const width = COLUMNS[at]?.[1] ?? 0
        return at === 0 ? cell.padEnd(width) : cell.padStart(width)
      })
      .join(' '),
  )

export const showHead = (load: number): void => {
  say(`load of the machine before: ${load.toFixed(1)}; middle of the rounds, ratios with min..max`)
  write(COLUMNS.map(([name]) => name))
}

/** With the milliseconds that the statements take at the middle, where they are known. */
export const showRow = (measured: Measured, sqlMs?: number): void => {
  const { shape, concurrency, http, bare } = measured
  write([
    shape.what,
    String(concurrency),
    ...[http, bare].flatMap((rounds) => [
      middle(rounds, 'p50').toFixed(2),
      middle(rounds, 'p99').toFixed(2),
      middle(rounds, 'rate').toFixed(0),
    ]),
    showRatio(measured, 'p50'),
    showRatio(measured, 'p99'),
    sqlMs?.toFixed(2) ?? '',
  ])
  const refused = middle(http, 'refused')
  if (refused > 0) say(`  ${(100 * refused).toFixed(1)} % of them answered 503, after 1.8 s`)
}

/** The ratio of the middles, and of the rounds as they followed each other. */
const showRatio = (measured: Measured, figure: 'p50' | 'p99'): string => {
  const each = measured.http.map((round, at) => round[figure] / bareAt(measured, at)[figure])
  const { min, max } = spread(each)
  return `${ratio(measured, figure).toFixed(2)} (${min.toFixed(2)}..${max.toFixed(2)})`
}

const bareAt = ({ bare }: Measured, at: number): Round => bare[at] as Round

export const showWalk = ({ http, bare }: Walk): void => {
  showSpread('full walk at limit 1000 over HTTP', http, 's')
  showSpread('full walk at limit 1000, bare', bare, 's')
}

export const showFigures = (all: readonly Measured[], walk: Walk): void => {
  for (const measured of all) {
    const { shape, concurrency } = measured
    for (const figure of ['p50', 'p99'] as const)
      showFigure(`search.${shape.name}.${figure}.${concurrency}`, ratio(measured, figure), {
        unit: 'x',
        aim: RATIO_AIM,
        atMost: true,
      })
    if (concurrency === 1)
      showFigure(`search.${shape.name}.p99-ms`, middle(measured.http, 'p99'), {
        unit: 'ms',
        aim: P99_AIM_MS,
        atMost: true,
      })
  }
  showFigure('search.walk', spread(walk.http).median / spread(walk.bare).median, {
    unit: 'x',
    aim: RATIO_AIM,
    atMost: true,
  })
}
