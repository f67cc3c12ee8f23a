import type { Line, Spread } from '../../test/nemesis/outcome.ts'
import type { Course } from '../../test/nemesis/soak.ts'
import { makeTable, wrap } from './markdown.ts'

/** Outcomes of runs of `npm run test:system -- faults`, one a line, as `.built/faults/outcomes.jsonl` has them. */
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

/** The section of what became of everything while faults came. */
export const makeFaultParts = (stored: string): string[] => {
  const lines = readLines(stored)
  const runs = lines.filter((line) => 'tasks' in line)
  const mistakes = lines.filter((line) => 'found' in line)
  return [
    '## Faults',
    wrap(INTRO),
    makeRunTable(runs),
    '### Each kind of fault',
    'Where no other fault was near it: the least and the most of the medians of the runs.',
    ...makeKindParts(runs),
    ...runs.flatMap(({ courses }) => (courses ? ['### The soak', makeCourseTable(courses)] : [])),
    '### Builds with a mistake',
    'Of each the checker found the violation:',
    wrap(mistakes.map(({ name, found }) => (found ? name : `NOT FOUND: ${name}`)).join('; ')),
  ]
}

const INTRO = `What runs of \`npm run test:system -- faults\` came to, on two cores; [reliability.md](../reliability.md#faults-by-seed)
has the scenarios and what must hold. Each run made 1,000 tasks unless it says otherwise. "Lost" are tasks, events and
publications that were acknowledged and are not there, "twice" those that are there twice or charged twice. "Unknown" are
creations without a response or rejected for now; all of them became the one that their repetition got. "Recovery" is the time
from the end of a fault until what was open then had ended. \`npm run docs -- .built/faults/outcomes.jsonl\` stores other runs.`

type Run = Extract<Line, { tasks: number }>

/** Results that an older harness did not make are left out. */
const RUN_COLUMNS: [head: string, cell: (run: Run) => number | string | undefined][] = [
  ['scenario', ({ name }) => name],
  ['seed', ({ seed }) => seed],
  ['tasks', ({ tasks }) => tasks],
  ['faults', ({ faults }) => faults],
  ['unknown', ({ unknown }) => unknown],
  ['lost', ({ lost }) => lost],
  ['twice', ({ duplicates, doubleCharges }) => duplicates + doubleCharges],
  [
    'other',
    ({ violations, lost, duplicates, doubleCharges }) =>
      violations.length - lost - duplicates - doubleCharges,
  ],
  ['recovery p50 · p99', ({ recovery }) => describeSpread(recovery)],
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
const makeKindParts = (runs: readonly Run[]): string[] => {
  const all = runs.flatMap(({ kinds }) => Object.entries(kinds))
  const kinds = [...new Set(all.map(([kind]) => kind))].toSorted().map((kind) => {
    const own = all.filter(([name]) => name === kind).map(([, each]) => each)
    const open = own.map(({ recovery }) => recovery).filter(({ count }) => count > 0)
    return { kind, times: own.reduce((sum, each) => sum + each.times, 0), open }
  })
  const rows = kinds
    .filter(({ open }) => open.length > 0)
    .map(({ kind, times, open }) => {
      const medians = open.map(({ p50 }) => p50)
      return [
        kind,
        String(times),
        `${inSeconds(Math.min(...medians))} to ${inSeconds(Math.max(...medians))}`,
        inSeconds(Math.max(...open.map(({ p99 }) => p99))),
      ]
    })
  const closed = kinds.filter(({ open }) => open.length === 0).map(({ kind }) => kind)
  return [
    makeTable(['fault', 'times', 'recovery p50', 'p99, at most'], rows),
    wrap(`Nothing was open at the end of: ${closed.join(', ')}.`),
  ]
}

const makeCourseTable = (courses: readonly Course[]): string =>
  makeTable(
    ['use, over the soak', 'before', 'during', 'after', 'an hour'],
    courses.map(({ name, before, during, after, perHour, error }) => [
      name,
      ...[before, during, after].map((value) => value.toFixed(1)),
      `${perHour.toFixed(1)} ± ${error.toFixed(1)}`,
    ]),
  )
