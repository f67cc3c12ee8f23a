/**
 * What `npm test` runs: the checks of types, lint, format and unused code, and beside them every test against a
 * PostgreSQL and a Temporal server started for this run; at the end it says how long each part took. Arguments choose
 * test files (a path, a folder, a part of a path, `*` for anything) and leave the checks out; `--test-name-pattern=…`
 * chooses tests by their titles, and `--long` runs the long forms of fault tests.
 */
import { spawn } from 'node:child_process'
import { once, setMaxListeners } from 'node:events'
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { parseArgs } from 'node:util'

import { secondsSince } from '../../src/local/console.ts'
import { listenForInterrupt } from '../../src/local/interrupt.ts'
import { ROOT } from '../../src/local/root.ts'
import { listTestFiles } from './files.ts'
import { makeGroups } from './groups.ts'
import { collectResults, describeFiles } from './results.ts'
import type { Results } from './results.ts'
import { startTestServers } from './servers.ts'
import type { TestServers } from './servers.ts'

const LINTED = ['src', 'workflows', 'activities', 'test', 'bench', 'tools', 'client', 'console']

/** What the compiler knows of unchanged files from the last run. */
const TYPES = join(ROOT, '.built/types.tsbuildinfo')
const CONSOLE_TYPES = join(ROOT, '.built/console-types.tsbuildinfo')

/** With `--long` tests take hours, or what only some machines have. */
const LONG = { LONG_PAGES: '1' }

/** A file, or a group of files, that has not ended by then hangs, which must not hang the run. */
const FILE_MS = 300_000
const GROUP_MS = 600_000
const LONG_MS = 7_200_000

/** What took how long, in the order of its end. */
const times: string[] = []

const main = async (): Promise<number> => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      'test-name-pattern': { type: 'string', multiple: true },
      long: { type: 'boolean', default: false },
    },
  })
  tell('build', performance.timeOrigin)
  const files = await listTestFiles(ROOT, positionals)
  if (files.length === 0) throw new Error(`no test file matches ${positionals.join(' ')}`)
  const { stop: interrupted } = listenForInterrupt(() => say('stopping'))
  const checks = positionals.length === 0 ? runChecks() : Promise.resolve(true)
  const servers = await startServers()
  try {
    Object.assign(process.env, servers.env, values.long ? LONG : {})
    const results = await runTests({
      groups: await makeGroups(files, {
        folder: servers.folder,
        fileMs: values.long ? LONG_MS : FILE_MS,
      }),
      testNamePatterns: values['test-name-pattern'] ?? [],
      timeout: values.long ? LONG_MS : GROUP_MS,
      signal: interrupted,
    })
    const checked = await checks
    conclude(results)
    return checked && results.failed === 0 && !interrupted.aborted ? 0 : 1
  } finally {
    await servers.stop()
  }
}

const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

const tell = (what: string, start: number, outcome = 'ok'): void => {
  say(`${what}: ${outcome}, ${secondsSince(start)}`)
  times.push(`${what} ${secondsSince(start)}`)
}

/** A fault found by one of them is said at once; the tests run all the same, and the exit code remembers. */
const runChecks = async (): Promise<boolean> => {
  const linted = LINTED.filter((folder) => existsSync(join(ROOT, folder)))
  return [
    await writeTypes(),
    await check('types', 'tsc', ['--incremental', '--tsBuildInfoFile', TYPES]),
    await check('types of the console', 'tsc', [
      '-p',
      'console',
      '--incremental',
      '--tsBuildInfoFile',
      CONSOLE_TYPES,
    ]),
    await check('lint', 'oxlint', ['--type-aware', ...linted]),
    await check('format', 'oxfmt', ['--check', '.']),
    await check('unused', 'knip', []),
    await check('unused but by tests', 'knip', ['--production', '--files', '--exports']),
  ].every(Boolean)
}

/** Those of the client, which are made of the routes. */
const writeTypes = async (): Promise<boolean> => {
  const start = Date.now()
  const { writeOpenApiTypes } = await import('../../tools/openapi-types.ts')
  try {
    await writeOpenApiTypes()
    return true
  } catch (error) {
    tell('types of the client', start, 'FAILED')
    say(String(error))
    return false
  }
}

const check = async (name: string, command: string, args: string[]): Promise<boolean> => {
  const start = Date.now()
  const program = join(ROOT, 'node_modules/.bin', command)
  const child = spawn(program, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
  const output: Buffer[] = []
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => output.push(chunk))
  const [code] = (await once(child, 'close')) as [number | null]
  tell(name, start, code === 0 ? 'ok' : 'FAILED')
  if (code !== 0) process.stdout.write(Buffer.concat(output))
  return code === 0
}

const startServers = async (): Promise<TestServers> => {
  const start = Date.now()
  const servers = await startTestServers(say)
  tell('servers', start)
  return servers
}

interface TestRun {
  groups: string[]
  testNamePatterns: string[]
  timeout: number
  signal: AbortSignal
}

const runTests = async ({
  groups,
  testNamePatterns,
  timeout,
  signal,
}: TestRun): Promise<Results> => {
  const start = Date.now()
  // Each group listens.
  setMaxListeners(0, signal)
  const stream = run({
    files: groups,
    // One more than cores: tests that kill wait for time-outs of Temporal.
    concurrency: availableParallelism() + 1,
    timeout,
    signal,
    ...(testNamePatterns.length === 0 ? {} : { testNamePatterns }),
  })
  const results = collectResults(stream)
  const report = stream.compose(new spec())
  report.pipe(process.stdout, { end: false })
  await once(report, 'end')
  tell('tests', start, results.failed === 0 ? 'ok' : 'FAILED')
  return results
}

const conclude = (results: Results): void => {
  const { passed, failed, skipped, files } = results
  if (files.size > 1) for (const line of describeFiles(results)) say(line)
  say(`${times.join(' · ')} · altogether ${secondsSince(performance.timeOrigin)}`)
  say(`${passed} passed, ${failed} failed, ${skipped} skipped`)
}

// Whoever reads the output may go away before the servers are stopped.
process.stdout.on('error', () => {})

try {
  process.exitCode = await main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
