import type { run } from 'node:test'

type TestsStream = ReturnType<typeof run>

export interface Results {
  passed: number
  failed: number
  skipped: number
  /** Milliseconds of each test file. */
  files: Map<string, number>
}

/** What of the runner's events the types of Node 20 do not know. */
interface Ended {
  name: string
  nesting: number
  skip?: string | boolean
  todo?: string | boolean
  details: { duration_ms: number; type?: string }
}

/** Counts what the runner tells; a file is the outermost suite of its tests. */
export const collectResults = (stream: TestsStream): Results => {
  const results: Results = { passed: 0, failed: 0, skipped: 0, files: new Map() }
  const note = (end: 'passed' | 'failed', { name, nesting, skip, details }: Ended): void => {
    if (details.type !== 'suite') results[skip ? 'skipped' : end] += 1
    else if (nesting === 0) results.files.set(name, details.duration_ms)
  }
  stream.on('test:pass', (ended) => note('passed', ended))
  stream.on('test:fail', (ended) => note('failed', ended))
  return results
}

/** The files that took longest, and what each folder took: files of one folder run beside those of another. */
export const describeFiles = ({ files }: Results): string[] => {
  const folders = new Map<string, number>()
  for (const [file, ms] of files) {
    const folder = file.split('/').slice(0, 2).join('/')
    folders.set(folder, (folders.get(folder) ?? 0) + ms)
  }
  return [
    ...describe('seconds in each folder', folders),
    ...describe('slowest files', new Map(longest(files).slice(0, 12))),
  ]
}

const longest = (times: ReadonlyMap<string, number>): [string, number][] =>
  [...times].toSorted(([, one], [, other]) => other - one)

const describe = (title: string, times: ReadonlyMap<string, number>): string[] => [
  `${title}:`,
  ...longest(times).map(([name, ms]) => `${(ms / 1000).toFixed(1).padStart(8)}  ${name}`),
]
