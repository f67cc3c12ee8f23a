import { makeFaultParts, OUTCOMES } from './faults.ts'
import { makePage, makeTable, wrap } from './markdown.ts'

/** Results as benchmarks print them; several lines of one name are several runs. */
export const RESULTS = 'bench/results.txt'

/** `<bench>.<name> <value> <unit> aim <= <number> ok`, or `>=`, or `short`. */
const LINE = /^([\w-]+)\.(\S+) (\S+) (\S+) aim (<=|>=) (\S+) (?:ok|short)$/

interface Result {
  line: string
  bench: string
  name: string
  value: number
  unit: string
  sign: string
  aim: string
}

const readResults = (text: string): Result[] =>
  text.split('\n').flatMap((line) => {
    const [, bench = '', name = '', value = '', unit = '', sign = '', aim = ''] =
      LINE.exec(line) ?? []
    return bench === '' ? [] : [{ line, bench, name, value: Number(value), unit, sign, aim }]
  })

/** Merges the stored results with an output, which replaces those of its benchmarks. */
export const mergeResults = (stored: string, output: string): string => {
  const fresh = readResults(output)
  if (fresh.length === 0)
    throw new Error('no results in it: give the whole output of `npm run bench`')
  const kept = readResults(stored).filter(({ bench }) => !fresh.some((one) => one.bench === bench))
  const byBench = [...kept, ...fresh].toSorted((a, b) => a.bench.localeCompare(b.bench))
  return byBench.map(({ line }) => `${line}\n`).join('')
}

/** Makes the page of the results of benchmarks and of the outcomes of fault tests. */
export const makeResultsPage = (stored: string, outcomes: string): string => {
  const results = readResults(stored)
  return makePage('Results', `\`${RESULTS}\` and \`${OUTCOMES}\``, [
    wrap(INTRO),
    ...distinct(results.map(({ bench }) => bench)).flatMap((bench) => [
      `## ${bench}`,
      makeResultTable(results.filter((one) => one.bench === bench)),
    ]),
    ...makeFaultParts(outcomes),
  ])
}

const makeResultTable = (results: readonly Result[]): string => {
  const names = distinct(results.map(({ name }) => name))
  const runsOf = (name: string) => results.filter((one) => one.name === name)
  return (
    makeCrossTable(names, runsOf) ??
    makeTable(
      ['result', 'measured', 'aim', ''],
      names.map((name) => [`\`${name}\``, ...describeResult(runsOf(name))]),
    )
  )
}

/** Callers, sizes and percentiles at the end of a name, which make columns. */
const COLUMN = /(?:\.(?:p50|p99|p99-ms|\d+))+$/

/** A row for each name and a column for each of its ends; undefined where the ends of a bench differ in unit or aim. */
const makeCrossTable = (
  names: readonly string[],
  runsOf: (name: string) => Result[],
): string | undefined => {
  const rows = distinct(names.map((name) => name.replace(COLUMN, '')))
  const columns = distinct(names.map((name) => COLUMN.exec(name)?.[0] ?? ''))
  const aims = columns.map((column) =>
    distinct(
      rows
        .flatMap((row) => runsOf(row + column))
        .map(({ unit, ...one }) => `${aimOf(one)} ${unit}`),
    ),
  )
  if (columns.length < 2 || aims.some((each) => each.length !== 1)) return undefined
  const cellOf = (runs: readonly Result[]): string => {
    if (runs.length === 0) return ''
    const [measured = '', , missed = ''] = describeResult(runs)
    const value = measured.replace(/ \S+$/, '')
    return missed === '' ? value : `**${value}**`
  }
  return makeTable(
    ['', ...columns.map((column) => (column === '' ? '' : `\`${column.slice(1)}\``))],
    [
      ['aim', ...aims.flat()],
      ...rows.map((row) => [
        `\`${row}\``,
        ...columns.map((column) => cellOf(runsOf(row + column))),
      ]),
    ],
  )
}

const aimOf = ({ sign, aim }: Pick<Result, 'sign' | 'aim'>): string =>
  `${sign === '<=' ? '≤' : '≥'} ${aim}`

const distinct = (names: readonly string[]): string[] => [...new Set(names)]

const INTRO = `What \`npm run bench\` measured on two cores that the service, its servers and its clients share. \`x\` is a ratio to a baseline of the
same run; [performance.md](../performance.md) says to which. Bold is short of its aim. \`npm run bench | npm run docs -- -\` measures again and writes this page.`

/** Values of one result over several runs, its aim, and `short` when it misses that. */
const describeResult = (runs: readonly Result[]): string[] => {
  const values = runs.map(({ value }) => value)
  const [min, max] = [Math.min(...values), Math.max(...values)]
  const { unit, ...one } = runs[0] as Result
  const isMet = values.every((value) =>
    one.sign === '<=' ? value <= Number(one.aim) : value >= Number(one.aim),
  )
  const measured = min === max ? String(min) : `${min} to ${max}`
  return [`${measured} ${unit}`, aimOf(one), isMet ? '' : 'short']
}
