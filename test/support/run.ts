/**
 * What `npm test` runs: type check, lint and format check, then every test against a PostgreSQL and a Temporal server
 * started for this run. Arguments choose test files (a path, a folder, a part of a path, `*` for anything) and leave the
 * checks out; those that begin with `-` go to `node --test`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { secondsSince } from '../../src/local/console.ts'
import { listenForInterrupt } from '../../src/local/interrupt.ts'
import { ROOT, codePath } from '../../src/local/root.ts'
import { listTestFiles } from './files.ts'
import { startTestServers } from './servers.ts'

const LINTED = ['src', 'workflows', 'activities', 'test', 'bench', 'tools']

const main = async (): Promise<number> => {
  const chosen = process.argv.slice(2).filter((argument) => !argument.startsWith('-'))
  const flags = process.argv.slice(2).filter((argument) => argument.startsWith('-'))
  const files = await listTestFiles(ROOT, chosen)
  if (files.length === 0) throw new Error(`no test file matches ${chosen.join(' ')}`)
  const { stop: interrupted } = listenForInterrupt(() => say('stopping'))
  const checks = chosen.length === 0 ? runChecks() : Promise.resolve(true)
  const servers = await startServers()
  try {
    const checked = await checks
    if (interrupted.aborted) return 1
    const passed = await runTests({ files, flags, env: servers.env, interrupted })
    return checked && passed ? 0 : 1
  } finally {
    await servers.stop()
  }
}

const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

/** A fault found by one of them is said at once; the tests run all the same, and the exit code remembers. */
const runChecks = async (): Promise<boolean> => {
  const linted = LINTED.filter((folder) => existsSync(join(ROOT, folder)))
  return [
    await phase('types', 'tsc', []),
    await phase('lint', 'oxlint', ['--type-aware', ...linted]),
    await phase('format', 'oxfmt', ['--check', '.']),
  ].every(Boolean)
}

const phase = async (name: string, command: string, args: string[]): Promise<boolean> => {
  const start = Date.now()
  const program = join(ROOT, 'node_modules/.bin', command)
  const child = spawn(program, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
  const output: Buffer[] = []
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => output.push(chunk))
  const [code] = (await once(child, 'close')) as [number | null]
  say(`${name}: ${code === 0 ? 'ok' : 'FAILED'}, ${secondsSince(start)}`)
  if (code !== 0) process.stdout.write(Buffer.concat(output))
  return code === 0
}

const startServers = async (): ReturnType<typeof startTestServers> => {
  const start = Date.now()
  const servers = await startTestServers(say)
  say(`servers: PostgreSQL, Temporal and the workflow bundle are ready, ${secondsSince(start)}`)
  return servers
}

interface TestRun {
  files: string[]
  flags: string[]
  env: NodeJS.ProcessEnv
  interrupted: AbortSignal
}

const runTests = async ({ files, flags, env, interrupted }: TestRun): Promise<boolean> => {
  const child = spawn(
    process.execPath,
    [
      '--enable-source-maps',
      '--test',
      '--test-concurrency=2',
      '--test-reporter=spec',
      // A file that hangs must not hang the run.
      '--test-timeout=180000',
      ...flags,
      ...files.map(codePath),
    ],
    { cwd: ROOT, env: { ...process.env, ...env }, stdio: 'inherit' },
  )
  interrupted.addEventListener('abort', () => child.kill('SIGINT'))
  const [code] = (await once(child, 'close')) as [number | null]
  return code === 0
}

// Whoever reads the output may go away before the servers are stopped.
process.stdout.on('error', () => {})

try {
  process.exitCode = await main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
