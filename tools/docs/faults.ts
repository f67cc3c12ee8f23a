import type { Line, Spread } from '../../test/nemesis/outcome.ts'
import type { Course } from '../../test/nemesis/soak.ts'
import { makePage, makeTable } from './markdown.ts'

/** What runs of `npm run test:system -- faults` came to, one to a line, as `.built/faults/outcomes.jsonl` has them. */
export const OUTCOMES = 'test/nemesis/outcomes.jsonl'

const readLines = (text: string): Line[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)

const keyOf = ({ name, seed }: Line): string => `${name} ${seed}`

/** The stored outcomes, those of a scenario and seed that the others have replaced by theirs. */
export const mergeOutcomes = (stored: string, fresh: string): string => {
  const lines = new Map(
    [...readLines(stored), ...readLines(fresh)].map((line) => [keyOf(line), line]),
  )
  return (
    [...lines.values()]
      .toSorted((a, b) => a.name.localeCompare(b.name) || a.seed - b.seed)
      // The folder of a failure is that of one machine.
      .map((line) => `${JSON.stringify({ ...line, kept: undefined })}\n`)
      .join('')
  )
}

/** The page of what became of everything while faults came. */
export const makeFaultsPage = (stored: string): string => {
  const lines = readLines(stored)
  const runs = lines.filter((line) => 'tasks' in line)
  const mistakes = lines.filter((line) => 'found' in line)
  return makePage('Faults', `\`${OUTCOMES}\``, [
    INTRO,
    makeRunTable(runs),
    '## Each kind of fault',
    'Where no other fault was near it: the least and the most of the medians of the runs.',
    makeKindTable(runs),
    ...runs.flatMap(({ courses }) => (courses ? ['## The soak', makeCourseTable(courses)] : [])),
    '## Builds with a mistake',
    makeTable(
      ['mistake', 'found by'],
      mistakes.map(({ name, found }) => [name, found ?? 'NOT FOUND']),
    ),
  ])
}

const INTRO = `What runs of \`npm run test:system -- faults\` came to, on two cores; [reliability.md](../reliability.md#faults-by-seed) tells of scenarios and of what must hold.
"Unknown" are creations that nothing was known of, or that were refused for now; "reconciled" are orders that had such, and became the one that their repetition got.
"Recovery" is the time from a heal until what was open then had ended. \`npm run docs -- .built/faults/outcomes.jsonl\` stores the outcomes of other runs.`

type Run = Extract<Line, { tasks: number }>

/** Figures that an older harness did not make are left out. */
const RUN_COLUMNS: [head: string, cell: (run: Run) => number | string | undefined][] = [
  ['scenario', ({ name }) => name],
  ['seed', ({ seed }) => seed],
  ['tasks', ({ tasks }) => tasks],
  ['publications', ({ versions }) => versions],
  ['faults', ({ faults }) => faults],
  ['acknowledged', ({ acknowledged }) => acknowledged],
  ['unknown', ({ unknown }) => unknown],
  ['reconciled', ({ reconciled }) => reconciled],
  ['**lost**', ({ lost }) => lost],
  ['**twice**', ({ duplicates }) => duplicates],
  ['**charged twice**', ({ doubleCharges }) => doubleCharges],
  [
    'other violations',
    ({ violations, lost, duplicates, doubleCharges }) =>
      violations.length - lost - duplicates - doubleCharges,
  ],
  ['events', ({ events }) => events],
  ['told again', ({ repeated }) => repeated],
  ['recovery p50 · p99', ({ recovery }) => describeSpread(recovery)],
  ['peak memory, MiB', ({ peakRss }) => peakRss],
  ['took', ({ seconds }) => `${Math.round(seconds / 60)} min`],
]

const makeRunTable = (runs: readonly Run[]): string =>
  makeTable(
    RUN_COLUMNS.map(([head]) => head),
    runs.map((run) => RUN_COLUMNS.map(([, cell]) => String(cell(run) ?? ''))),
  )

const describeSpread = ({ count, p50, p99 }: Spread): string =>
  count === 0 ? 'nothing was open' : `${inSeconds(p50)} · ${inSeconds(p99)}`

const inSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/** Each kind of fault where no other was near it: the least and the most of the medians, and the longest. */
const makeKindTable = (runs: readonly Run[]): string => {
  const all = runs.flatMap(({ kinds }) => Object.entries(kinds))
  const rows = [...new Set(all.map(([kind]) => kind))].toSorted().map((kind) => {
    const own = all.filter(([name]) => name === kind).map(([, each]) => each)
    const times = own.reduce((sum, each) => sum + each.times, 0)
    const open = own.map(({ recovery }) => recovery).filter(({ count }) => count > 0)
    const medians = open.map(({ p50 }) => p50)
    return [
      kind,
      String(times),
      open.length === 0
        ? 'nothing was open'
        : `${inSeconds(Math.min(...medians))} to ${inSeconds(Math.max(...medians))}`,
      open.length === 0 ? '' : inSeconds(Math.max(...open.map(({ p99 }) => p99))),
    ]
  })
  return makeTable(['fault', 'times', 'recovery p50', 'p99, at most'], rows)
}

const makeCourseTable = (courses: readonly Course[]): string =>
  makeTable(
    ['held, over the soak', 'before', 'during', 'after', 'an hour'],
    courses.map(({ name, before, during, after, perHour, error }) => [
      name,
      ...[before, during, after].map((value) => value.toFixed(1)),
      `${perHour.toFixed(1)} ± ${error.toFixed(1)}`,
    ]),
  )
