/**
 * Program of `npm run test:system -- compose`, which tries the Dockerfile and docker-compose.yml on an engine.
 * `-- faults`, `-- volumes`, `-- upgrade` and `-- machines` choose one of its parts; KEEP_ENGINE_IMAGES=no begins with
 * an engine without images.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'

import { listenForInterrupt } from '../../src/local/interrupt.ts'
import type { Report, Row } from './callers.ts'
import { CACHE, findEngine, timed } from './engine.ts'
import type { Engine, Say } from './engine.ts'
import { testFaults, testVolumes } from './faults.ts'
import { makeImages } from './images.ts'
import { makeMachines, testMachines } from './machines.ts'
import { makeStack } from './stack.ts'
import type { Stack } from './stack.ts'
import { testUpgrade } from './upgrade.ts'

type Keep = (stack: Stack) => Stack
type Part = (engine: Engine, keep: Keep) => Promise<void>

const rows: Row[] = []

const say: Say = (line) => void process.stdout.write(`${line}\n`)

const add = (row: Row): void => {
  rows.push(row)
  say(formatRow(row))
}

const formatRow = ({ what, accepted, repeated, ...row }: Row): string =>
  `${what} | ${accepted} | 0 | ${repeated} | ${row.gapSeconds.toFixed(1)} s | ${row.drainSeconds.toFixed(1)} s | ${row.tasksPerSecond.toFixed(1)}`

type Test = (stack: Stack, report: Report) => Promise<void>
const makePart =
  (test: Test, make: (engine: Engine) => Promise<Stack>): Part =>
  async (engine, keep) =>
    await test(keep(await make(engine)), { say, add })

const PARTS: Record<string, Part> = {
  faults: makePart(testFaults, (engine) => makeStack(engine, 'kiln-test')),
  volumes: makePart(testVolumes, (engine) => makeStack(engine, 'kiln-volumes')),
  upgrade: makePart(testUpgrade, (engine) => makeStack(engine, 'kiln-upgrade')),
  machines: makePart(testMachines, makeMachines),
}

const main = async (chosen: readonly string[]): Promise<void> => {
  const interrupt = listenForInterrupt(() => say('interrupted: everything is stopped'))
  if (process.env['KEEP_ENGINE_IMAGES'] === 'no')
    await rm(join(CACHE, 'data'), { recursive: true, force: true })
  const engine = await findEngine(say)
  if (typeof engine === 'string') return say(`skipped: ${engine}`)
  const stacks: Stack[] = []
  const keep: Keep = (stack) => {
    stacks.unshift(stack)
    return stack
  }
  const interrupted = new Promise<never>((_, reject) => {
    interrupt.stop.addEventListener('abort', () => reject(interrupt.stop.reason as Error))
  })
  try {
    await Promise.race([runParts(engine, chosen, keep), interrupted])
  } catch (error) {
    for (const stack of stacks) await sayState(stack)
    throw error
  } finally {
    for (const stack of stacks) await stack.remove().catch((error: unknown) => say(String(error)))
    await engine.stop()
    say('\nwhat | accepted | lost | repeated attempts | longest gap | until all ended | tasks/s')
    for (const row of rows) say(formatRow(row))
  }
}

const runParts = async (engine: Engine, chosen: readonly string[], keep: Keep): Promise<void> => {
  if (engine.isOwn) await makeImages(engine, say)
  await buildOurs(engine)
  for (const [name, part] of Object.entries(PARTS))
    if (chosen.length === 0 || chosen.includes(name)) await part(engine, keep)
}

const buildOurs = async (engine: Engine): Promise<void> => {
  const stack = await makeStack(engine, 'kiln-build')
  await timed(say, 'image of ours by the Dockerfile', () => stack.compose(['build', 'api']))
  await stack.remove()
  say(await engine.docker(['images', '--format', 'table {{.Repository}}:{{.Tag}}\t{{.Size}}']))
}

const sayState = async (stack: Stack): Promise<void> => {
  for (const args of [
    ['ps', '--all', '--format', 'table {{.Service}}\t{{.Status}}'],
    ['logs', '--no-color', '--tail', '15'],
  ])
    say(await stack.compose(args).catch(String))
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  say(error instanceof Error ? (error.stack ?? error.message) : String(error))
  process.exitCode = 1
})
