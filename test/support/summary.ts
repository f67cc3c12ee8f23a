import type { FileCosts } from './file-cost.ts'
import { countTests } from './report.ts'
import type { FileResult, Results } from './report.ts'

/** Seconds of a part of the run, and of processor where they are known. */
export interface Part {
  name: string
  seconds: number
  cpu: number | undefined
}

const SLOWEST = 10

/** The lines that end a run: skipped tests with the reason, cost of each part, the slowest files, failures again, all tests. */
export const summarize = (results: Results, costs: FileCosts, parts: readonly Part[]): string[] => [
  ...[...results.skips].map(([reason, titles]) => `skipped, ${reason}: ${titles.join('; ')}`),
  'seconds processor',
  ...[...parts, ...sumFolders(results.files, costs)].map(line),
  'slowest files:',
  ...results.files
    .toSorted((one, other) => other.seconds - one.seconds)
    .slice(0, SLOWEST)
    .map(({ file, seconds }) => line({ name: file, seconds, cpu: costs[file] })),
  ...results.failures.map((failure) => `\n${failure}`),
  countTests({
    passed: sum(results.files, 'passed'),
    failed: countFailed(results),
    skipped: sum(results.files, 'skipped'),
  }),
]

const line = ({ name, seconds, cpu }: Part): string =>
  `${seconds.toFixed(1).padStart(7)} ${(cpu?.toFixed(1) ?? '').padStart(9)} ${name}`

/** Files of one folder run beside those of another. */
const sumFolders = (files: readonly FileResult[], costs: FileCosts): Part[] => {
  const folders = new Map<string, Part>()
  for (const { file, seconds } of files) {
    const name = file.split('/').slice(0, 2).join('/')
    const sum = folders.get(name) ?? { name, seconds: 0, cpu: 0 }
    const cpu = (sum.cpu ?? 0) + (costs[file] ?? 0)
    folders.set(name, { name, seconds: sum.seconds + seconds, cpu })
  }
  return [...folders.values()].toSorted((one, other) => other.seconds - one.seconds)
}

/** Failed tests: a program that ends before its time leaves no file, and a hook that throws fails several tests. */
export const countFailed = ({ files, failures }: Results): number =>
  Math.max(sum(files, 'failed'), failures.length)

const sum = (files: readonly FileResult[], member: 'passed' | 'failed' | 'skipped'): number =>
  files.reduce((total, file) => total + file[member], 0)
