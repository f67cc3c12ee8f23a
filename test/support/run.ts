/**
 * `npm test` and `npm run test:all`: `npm run check`, and beside it the test files against a PostgreSQL and a Temporal
 * server started for this run; at the end what it ran, and what each part took. Arguments choose test files (a path, a
 * folder, a part of a path, `*` for anything) and leave the checks out; `--test-name-pattern=…` chooses tests by their
 * titles, `--rest` the files that `npm test` leaves out, and `--long` runs the long forms of fault tests.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { run } from 'node:test'
import { parseArgs } from 'node:util'

import { cpuSeconds } from '../../src/local/cpu-seconds.ts'
import { listenForInterrupt } from '../../src/local/interrupt.ts'
import { ROOT, codePath } from '../../src/local/root.ts'
import type { FileCosts } from './file-cost.ts'
import { listTestFiles } from './files.ts'
import { makeGroups } from './groups.ts'
import type { Group } from './groups.ts'
import { makeResults, report } from './report.ts'
import { startTestServers } from './servers.ts'
import { measureSlowness } from './slowness.ts'
import { countFailed, summarize } from './summary.ts'
import type { Part } from './summary.ts'

/** With `--long` tests take hours, or what only some machines have. */
const LONG = { LONG_PAGES: '1' }

/** A file that has not ended by then hangs, which must not hang the run. */
const FILE_MS = 600_000
const LONG_MS = 7_200_000

/** Groups that wait for most of their time run beside those that keep the cores busy. */
const WAITING = 3

const main = async (): Promise<number> => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      'test-name-pattern': { type: 'string', multiple: true, default: [] },
      rest: { type: 'boolean', default: false },
      long: { type: 'boolean', default: false },
    },
  })
  const files = await listTestFiles(ROOT, { patterns: positionals, rest: values.rest })
  if (files.length === 0) throw new Error(`no test file matches ${positionals.join(' ')}`)
  const slowness = await measureSlowness()
  print(
    `${files.length} test files; this machine takes ${slowness.toFixed(1)} times as long as the one they were written on`,
  )
  const { stop: interrupted } = listenForInterrupt(() => print('stopping'))
  const parts: Part[] = []
  const checked = positionals.length === 0 && !values.rest ? runChecks(parts, interrupted) : true
  const servers = await timed(parts, 'start of the servers', () =>
    startTestServers(print, { signal: interrupted }),
  )
  Object.assign(process.env, servers.env, { TEST_SLOWNESS: String(slowness) }, values.long && LONG)
  const results = makeResults()
  const costs: FileCosts = {}
  try {
    const fileMs = values.long ? LONG_MS : FILE_MS * slowness
    const groups = await makeGroups(files, { folder: servers.folder, fileMs })
    const runGroup = async (group: Group): Promise<void> => {
      const stream = run({
        files: [group.path],
        timeout: fileMs * group.files.length,
        signal: interrupted,
        testNamePatterns: values['test-name-pattern'],
      })
      report(stream, { results, print })
      // An interrupted run does not end.
      await Promise.race([once(stream.resume(), 'end'), once(interrupted, 'abort')])
      Object.assign(costs, await readCosts(group))
    }
    const lane = async (waiting: Group[]): Promise<void> => {
      for (let next = waiting.shift(); next && !interrupted.aborted; next = waiting.shift())
        await runGroup(next)
    }
    const waiting = groups.filter(({ waits }) => waits)
    const busy = groups.filter(({ waits }) => !waits)
    await Promise.all([
      ...Array.from({ length: WAITING }, () => lane(waiting)),
      ...Array.from({ length: availableParallelism() }, () => lane(busy)),
    ])
    await checked
  } finally {
    await timed(parts, 'PostgreSQL and Temporal', servers.stop)
  }
  for (const line of summarize(results, costs, [...parts, everything()])) print(line)
  if (interrupted.aborted) print('stopped before the end')
  return (await checked) && countFailed(results) === 0 && !interrupted.aborted ? 0 : 1
}

const print = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

/** The processor that a part takes is known where no other child of this process ends meanwhile. */
const timed = async <T>(parts: Part[], name: string, act: () => Promise<T>): Promise<T> => {
  const [start, cpu] = [performance.now(), cpuSeconds()]
  const value = await act()
  parts.push({ name, seconds: (performance.now() - start) / 1000, cpu: cpuSeconds() - cpu })
  return value
}

const everything = (): Part => ({
  name: 'altogether',
  seconds: performance.now() / 1000,
  cpu: cpuSeconds(),
})

const runChecks = async (parts: Part[], interrupted: AbortSignal): Promise<boolean> => {
  const start = performance.now()
  const part: Part = { name: 'checks', seconds: 0, cpu: undefined }
  const child = fork(codePath('tools/check.ts'), { cwd: ROOT })
  interrupted.addEventListener('abort', () => child.kill())
  child.on('message', (cpu) => {
    part.cpu = Number(cpu)
  })
  const [code] = (await once(child, 'close')) as [number | null]
  part.seconds = (performance.now() - start) / 1000
  parts.push(part)
  return code === 0
}

/** A program that was killed has left none. */
const readCosts = async ({ costs }: Group): Promise<FileCosts> =>
  existsSync(costs) ? (JSON.parse(await readFile(costs, 'utf8')) as FileCosts) : {}

// Whoever reads the output may go away before the servers are stopped.
process.stdout.on('error', () => {})

try {
  process.exitCode = await main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
