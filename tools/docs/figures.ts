import { makeFaultParts, OUTCOMES } from './faults.ts'
import { makePage, makeTable, wrap } from './markdown.ts'

/** Figures as benchmarks print them; several lines of one figure are several runs. */
export const FIGURES = 'bench/figures.txt'

/** `<bench>.<figure> <value> <unit> aim <= <number> ok`, or `>=`, or `short`. */
const LINE = /^([\w-]+)\.(\S+) (\S+) (\S+) aim (<=|>=) (\S+) (?:ok|short)$/

interface Figure {
  line: string
  bench: string
  name: string
  value: number
  unit: string
  sign: string
  aim: string
}

const readFigures = (text: string): Figure[] =>
  text.split('\n').flatMap((line) => {
    const [, bench = '', name = '', value = '', unit = '', sign = '', aim = ''] =
      LINE.exec(line) ?? []
    return bench === '' ? [] : [{ line, bench, name, value: Number(value), unit, sign, aim }]
  })

/** The stored figures, those of the benchmarks that an output has replaced by it. */
export const mergeFigures = (stored: string, output: string): string => {
  const fresh = readFigures(output)
  if (fresh.length === 0)
    throw new Error('no figures in it: give the whole output of `npm run bench`')
  const kept = readFigures(stored).filter(({ bench }) => !fresh.some((one) => one.bench === bench))
  const byBench = [...kept, ...fresh].toSorted((a, b) => a.bench.localeCompare(b.bench))
  return byBench.map(({ line }) => `${line}\n`).join('')
}

/** The page of what the benchmarks measured, and of what runs of faults came to. */
export const makeFiguresPage = (stored: string, outcomes: string): string => {
  const figures = readFigures(stored)
  return makePage('Figures', `\`${FIGURES}\` and \`${OUTCOMES}\``, [
    wrap(INTRO),
    ...distinct(figures.map(({ bench }) => bench)).flatMap((bench) => [
      `## ${bench}`,
      makeFigureTable(figures.filter((one) => one.bench === bench)),
    ]),
    ...makeFaultParts(outcomes),
  ])
}

const makeFigureTable = (figures: readonly Figure[]): string => {
  const names = distinct(figures.map(({ name }) => name))
  const runsOf = (name: string) => figures.filter((one) => one.name === name)
  return (
    makeCrossTable(names, runsOf) ??
    makeTable(
      ['figure', 'measured', 'aim', ''],
      names.map((name) => [`\`${name}\``, ...describeFigure(runsOf(name))]),
    )
  )
}

/** Callers, sizes and percentiles at the end of a name, which make columns. */
const COLUMN = /(?:\.(?:p50|p99|p99-ms|\d+))+$/

/** A row for each name and a column for each of its ends; undefined where the ends of a bench differ in unit or aim. */
const makeCrossTable = (
  names: readonly string[],
  runsOf: (name: string) => Figure[],
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
  const cellOf = (runs: readonly Figure[]): string => {
    if (runs.length === 0) return ''
    const [measured = '', , missed = ''] = describeFigure(runs)
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

const aimOf = ({ sign, aim }: Pick<Figure, 'sign' | 'aim'>): string =>
  `${sign === '<=' ? '≤' : '≥'} ${aim}`

const distinct = (names: readonly string[]): string[] => [...new Set(names)]

const INTRO = `What \`npm run bench\` measured on two cores that the service, its servers and its clients share. \`x\` is a ratio to a baseline of the
same run; [performance.md](../performance.md) says to which. Bold is short of its aim. \`npm run bench | npm run docs -- -\` measures again and writes this page.`

/** What several runs of one figure measured, its aim, and whether it is short of that. */
const describeFigure = (runs: readonly Figure[]): string[] => {
  const values = runs.map(({ value }) => value)
  const [least, most] = [Math.min(...values), Math.max(...values)]
  const { unit, ...one } = runs[0] as Figure
  const isMet = values.every((value) =>
    one.sign === '<=' ? value <= Number(one.aim) : value >= Number(one.aim),
  )
  const measured = least === most ? String(least) : `${least} to ${most}`
  return [`${measured} ${unit}`, aimOf(one), isMet ? '' : 'short']
}
