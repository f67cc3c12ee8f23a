import type { run } from 'node:test'
import { inspect } from 'node:util'

type TestsStream = ReturnType<typeof run>

/** The part of the runner's events that the types of Node 20 lack. */
interface Ended {
  name: string
  nesting: number
  skip?: string | boolean
  details: { duration_ms: number; type?: string; error?: Error & { failureType?: string } }
}

export interface FileResult {
  file: string
  seconds: number
  passed: number
  failed: number
  skipped: number
}

export interface Results {
  files: FileResult[]
  /** Each as it was printed when it failed. */
  failures: string[]
  /** Titles of the tests that were skipped, by the reason. */
  skips: Map<string, string[]>
}

/**
 * A suite fails because of what is in it, and a test because of a hook of its suite: those are printed. An interrupted run says so
 * itself.
 */
const CONSEQUENCES = new Set(['subtestsFailed', 'cancelledByParent', 'testAborted'])

export const makeResults = (): Results => ({ files: [], failures: [], skips: new Map() })

export interface ReportOptions {
  results: Results
  print: (line: string) => void
}

/**
 * Collects what the runner reports of one group, whose outermost suites are its files: a failure is printed at once, and a
 * file in one line when it has ended.
 */
export const report = (stream: TestsStream, { results, print }: ReportOptions): void => {
  const path: string[] = []
  let counts = { passed: 0, failed: 0, skipped: 0 }
  const titleOf = ({ name, nesting }: Ended): string =>
    [...path.slice(0, nesting), name].join(' › ')

  const count = (end: 'passed' | 'failed', ended: Ended): void => {
    const { skip, details, nesting } = ended
    if (skip !== undefined && skip !== false) recordSkip(titleOf(ended), skip)
    if (details.type !== 'suite') counts[skip ? 'skipped' : end] += 1
    else if (nesting === 0) endFile(ended)
  }
  const recordSkip = (title: string, skip: string | true): void => {
    const reason = skip === true || skip === '' ? 'no reason given' : skip
    results.skips.set(reason, [...(results.skips.get(reason) ?? []), title])
  }
  const endFile = ({ name, details }: Ended): void => {
    const result = { file: name, seconds: details.duration_ms / 1000, ...counts }
    counts = { passed: 0, failed: 0, skipped: 0 }
    results.files.push(result)
    print(describeFile(result))
  }
  const fail = (ended: Ended): void => {
    const error = ended.details.error
    if (!CONSEQUENCES.has(error?.failureType ?? '')) {
      const text = `✖ ${titleOf(ended)}\n${inspect(error?.cause ?? error)}`
      results.failures.push(text)
      print(text)
    }
    count('failed', ended)
  }

  // What the runner itself counts has no nesting.
  stream.on('test:diagnostic', ({ message, nesting }: { message: string; nesting: number }) => {
    if (nesting > 0) print(`  ${message}`)
  })
  stream.on('test:start', ({ name, nesting }: { name: string; nesting: number }) => {
    path[nesting] = name
  })
  stream.on('test:pass', (ended: Ended) => count('passed', ended))
  stream.on('test:fail', fail)
  for (const event of ['test:stdout', 'test:stderr'] as const)
    stream.on(event, ({ message }: { message: string }) => print(message.trimEnd()))
}

const describeFile = ({ file, seconds, passed, failed, skipped }: FileResult): string =>
  `${failed > 0 ? '✖' : '✔'} ${file} ${seconds.toFixed(1)} s, ${countTests({ passed, failed, skipped })}`

type Counts = Pick<FileResult, 'passed' | 'failed' | 'skipped'>

/** `12 passed, 1 failed, 2 skipped`, without what is none. */
export const countTests = ({ passed, failed, skipped }: Counts): string =>
  [`${passed} passed`, failed > 0 && `${failed} failed`, skipped > 0 && `${skipped} skipped`]
    .filter(Boolean)
    .join(', ')
