import { makePage, makeTable } from './markdown.ts'

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

/** The page of what the benchmarks measured. */
export const makeFiguresPage = (stored: string): string => {
  const figures = readFigures(stored)
  return makePage('Figures', `\`${FIGURES}\``, [
    INTRO,
    ...distinct(figures.map(({ bench }) => bench)).flatMap((bench) => [
      `## ${bench}`,
      makeFigureTable(figures.filter((one) => one.bench === bench)),
    ]),
  ])
}

const makeFigureTable = (figures: readonly Figure[]): string =>
  makeTable(
    ['figure', 'measured', 'aim', ''],
    distinct(figures.map(({ name }) => name)).map((name) =>
      describeFigure(
        name,
        figures.filter((one) => one.name === name),
      ),
    ),
  )

const distinct = (names: readonly string[]): string[] => [...new Set(names)]

const INTRO = `What \`npm run bench\` measured on two cores that the service, its servers and its clients share. \`x\` is a ratio to a baseline of the
same run; [performance.md](../performance.md) says to which. \`npm run bench | npm run docs -- -\` measures anew and writes this page.`

const describeFigure = (name: string, runs: readonly Figure[]): string[] => {
  const values = runs.map(({ value }) => value)
  const [least, most] = [Math.min(...values), Math.max(...values)]
  const { unit, sign, aim } = runs[0] as Figure
  const isMet = values.every((value) =>
    sign === '<=' ? value <= Number(aim) : value >= Number(aim),
  )
  const measured = least === most ? String(least) : `${least} to ${most}`
  return [
    `\`${name}\``,
    `${measured} ${unit}`,
    `${sign === '<=' ? 'at most' : 'at least'} ${aim}`,
    isMet ? '' : 'short',
  ]
}
