/**
 * Runs `npm run test:system -- vendor`: one Kiln whose engines are those of a second one. Arguments choose parts: `demo` (one
 * job of every kind), `http` (tests of the interface, for an upstream), `kills` (a worker killed at each line that matters, for images and videos), `forgets` (the same after the upstream has
 * forgotten the task), `changes` (the engine switched, a task cancelled), `storm` (tasks while
 * processes of both sides are killed at random). `--tasks 1000` says how many the storm makes, `--seed 1` how it kills.
 */
import { parseArgs } from 'node:util'

import { runDemo } from '../../src/local/demo.ts'
import { secondsSince } from '../../src/local/console.ts'
import { listenForInterrupt } from '../../src/local/interrupt.ts'
import { makeFolder, withKept } from '../support/keep.ts'
import { runProgram } from '../support/run-program.ts'
import { startTestServers } from '../support/servers.ts'
import { changeUnderway, forgetAtEachLine, killAtEachLine } from './kills.ts'
import { startPair } from './pair.ts'
import type { Pair } from './pair.ts'
import { runStorm } from './storm.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { tasks: { type: 'string', default: '1000' }, seed: { type: 'string', default: '1' } },
})

const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

const demo = async ({ near }: Pair): Promise<void> => {
  const { stop: signal } = listenForInterrupt(() => say('stopping'))
  await withKept(async (keep) => {
    const token = await near.token('demo')
    const outDir = keep(await makeFolder()).path
    if (!(await runDemo({ baseUrl: near.baseUrl, token, outDir, out: process.stdout, signal })))
      throw new Error('a job of the demo failed')
  })
}

/** Tests that know nothing of engines but what a caller sees. */
const HTTP_TESTS = ['test/tasks/http/image-task.test.ts', 'test/tasks/http/video-task.test.ts']

const http = async ({ far, key }: Pair): Promise<void> => {
  const env = { TEST_UPSTREAM_URL: far.baseUrl, TEST_UPSTREAM_KEY: key }
  if (!(await runProgram(['test/support/run.ts', ...HTTP_TESTS], env)))
    throw new Error('a test of the interface failed')
}

interface Part {
  options?: Parameters<typeof startPair>[0]
  run: (pair: Pair) => Promise<void>
}

const PARTS: Record<string, Part> = {
  demo: {
    options: { env: { OVERRIDE_VIDEO_TINY: '' }, roles: ['api', 'core', 'media'] },
    run: demo,
  },
  http: { options: { env: { OVERRIDE_VIDEO_TINY: '' }, roles: [] }, run: http },
  kills: { run: (pair) => killAtEachLine(pair, say) },
  forgets: { run: (pair) => forgetAtEachLine(pair, say) },
  changes: { run: (pair) => changeUnderway(pair, say) },
  storm: {
    run: (pair) => runStorm(pair, { tasks: Number(values.tasks), seed: Number(values.seed), say }),
  },
}

const runPart = async (name: string): Promise<void> => {
  const part = PARTS[name]
  if (!part) throw new Error(`there is no part ${name}, only ${Object.keys(PARTS).join(', ')}`)
  const start = Date.now()
  const pair = await startPair(part.options)
  try {
    await part.run(pair)
    say(`${name}: ok, ${secondsSince(start)}`)
  } catch (error) {
    say(pair.near.entry('core').log.slice(-20).join('\n'))
    throw error
  } finally {
    await pair.stop()
  }
}

const servers = await startTestServers(say)
try {
  Object.assign(process.env, servers.env)
  for (const name of positionals.length > 0 ? positionals : Object.keys(PARTS)) await runPart(name)
} catch (error) {
  say(error instanceof Error ? (error.stack ?? error.message) : String(error))
  process.exitCode = 1
} finally {
  await servers.stop()
}
