/** `npm run check`: types, lint, format and unused code. Each check says how long it took, and a failed one what it found. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

import { secondsSince } from '../src/local/console.ts'
import { ROOT } from '../src/local/root.ts'
import { cpuSeconds } from '../src/local/cpu-seconds.ts'
import { writeOpenApiTypes } from './openapi-types.ts'

const LINTED = ['src', 'workflows', 'activities', 'test', 'bench', 'tools', 'packages']

const CHECKS: [name: string, command: string, ...args: string[]][] = [
  // One program of the compiler serves both.
  ['types and lint', 'oxlint', '--type-aware', '--type-check', ...LINTED],
  ['format', 'oxfmt', '--check', '.'],
  ['unused', 'knip'],
  ['unused but by tests', 'knip', '--production', '--files', '--exports'],
]

const main = async (): Promise<void> => {
  await report('types of the client', writeOpenApiTypes)
  for (const [name, command, ...args] of CHECKS) await report(name, () => run(command, args))
}

/** Runs a check and prints its outcome. A failed one leaves its mark in the exit code, and the next runs all the same. */
const report = async (name: string, check: () => Promise<void>): Promise<void> => {
  const [start, cpu] = [Date.now(), cpuSeconds()]
  const error = await check().then(
    () => undefined,
    (thrown: unknown) => (thrown instanceof Error ? thrown.message : String(thrown)),
  )
  const outcome = error === undefined ? 'ok' : 'FAILED'
  const taken = `${secondsSince(start)}, ${(cpuSeconds() - cpu).toFixed(1)} s of processor`
  process.stdout.write(`${name}: ${outcome}, ${taken}\n`)
  if (error === undefined) return
  process.stdout.write(`${error}\n`)
  process.exitCode = 1
}

/** Throws with the output of a program that fails. */
const run = async (command: string, args: string[]): Promise<void> => {
  const program = join(ROOT, 'node_modules/.bin', command)
  const child = spawn(program, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
  const output: Buffer[] = []
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => output.push(chunk))
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(Buffer.concat(output).toString())
}

await main()
// The runner of tests adds it to its own CPU time.
process.send?.(cpuSeconds(), () => process.disconnect())
