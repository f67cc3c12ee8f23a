/**
 * Runs `npm run test:system -- faults`: tasks, publications and events while processes are killed, stopped and cut off
 * from each other; afterwards it checks the ledgers of callers, receivers and rows. `--seed 1,2` says which faults,
 * `--tasks` how many tasks, `--seconds` for how long faults come, `--replay <plan.json>` repeats those of a run that
 * failed, `--only <scenario>` chooses one: of scenarios.ts, or a mistake, of which builds are made that must be found, or
 * fuzz, which sends bad input; `--case <number>` sends one request of it. Each outcome is a line of
 * `.built/faults/outcomes.jsonl`; `--resume` leaves out what has one there for the same commit.
 */
import { execFileSync } from 'node:child_process'
import { appendFile, mkdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'

import { ROOT } from '../../src/local/root.ts'
import { bundleWorkflows } from '../../src/local/workflow-bundle.ts'
import { MISTAKES, buildBroken, type Mistake } from './broken.ts'
import type { Fault } from './faults.ts'
import { fuzz } from '../fuzz/fuzz.ts'
import type { Line, Outcome } from './outcome.ts'
import { describeError, makePlan, shorten } from './plan.ts'
import { runScenario, type Scenario } from './scenario.ts'
import { SCENARIOS } from './scenarios.ts'
import { runSoak } from './soak.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    tasks: { type: 'string', default: '1000' },
    versions: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '180' },
    only: { type: 'string' },
    replay: { type: 'string' },
    /** An hour of load, or as many minutes as `--minutes` says. */
    soak: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '60' },
    resume: { type: 'boolean', default: false },
    case: { type: 'string' },
    /** Runs that look for a shorter plan, when one fails. */
    attempts: { type: 'string', default: '6' },
  },
})

const say = (line: string): void => void process.stdout.write(`${line}\n`)

const isChosen = (name: string): boolean => values.only === undefined || name.includes(values.only)

const size = {
  tasks: Number(values.tasks),
  versions: Number(values.versions),
  seconds: Number(values.seconds),
}

const GONE = { recursive: true, force: true }
const OUTCOMES = join(ROOT, '.built/faults/outcomes.jsonl')
const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT }).toString().trim()

/** Adds a line to the outcomes; `npm run docs -- .built/faults/outcomes.jsonl` puts them into docs/reliability.md. */
const record = async (line: Line): Promise<void> => {
  await mkdir(dirname(OUTCOMES), { recursive: true })
  await appendFile(OUTCOMES, `${JSON.stringify({ commit, ...line })}\n`)
}

/** Pairs of scenario and seed that this commit has an outcome of. */
const readDone = async (): Promise<Set<string>> => {
  const text = values.resume ? await readFile(OUTCOMES, 'utf8').catch(() => '') : ''
  const lines = text.split('\n').filter((line) => line.includes(commit))
  const outcomes = lines.map((line) => JSON.parse(line) as Line)
  return new Set(outcomes.map(({ name, seed }) => `${name} ${seed}`))
}

const report = ({ violations, kept, recovery, ...made }: Outcome): void => {
  say(`  ${made.acknowledged} orders, ${made.faults} faults, ${made.reconciled} reconciled`)
  say(`  ${made.events} events sent, ${made.repeated} again`)
  say(`  recovery ${recovery.p50} ms (p99 ${recovery.p99} ms)`)
  say(`  ${made.slow} of ${made.responses} responses slow`)
  say(`  ${made.seconds} s: ${violations.length || 'no'} violations`)
  for (const { invariant, what } of violations.slice(0, 20)) say(`  ${invariant}: ${what}`)
  if (kept !== undefined) say(`  kept in ${kept}`)
}

const validate = async (scenario: Scenario): Promise<boolean> => {
  const outcome = await runScenario(scenario, say)
  report(outcome)
  await record(outcome)
  if (outcome.violations.length === 0) return true
  if (values.attempts === '0') return false
  const fails = async (plan: readonly Fault[]): Promise<boolean> =>
    (await runScenario({ ...scenario, plan }, say)).violations.length > 0
  const shortest = await shorten(scenario.plan, fails, Number(values.attempts))
  say('  the shortest that fails:')
  for (const fault of shortest) say(`    ${describeError(fault)}`)
  return false
}

const USUAL_KILLS = ['kill', 'stop', 'kill-server', 'reset'] as const

/** Checks that each mistake is found by what it breaks. */
const checkBroken = async (seed: number): Promise<boolean> => {
  let isFound = true
  for (const name of Object.keys(MISTAKES) as (keyof typeof MISTAKES)[]) {
    if (!isChosen(name)) continue
    const { invariants, faults: names = USUAL_KILLS }: Mistake = MISTAKES[name]
    const release = await buildBroken(name)
    const plan = makePlan({ seed, seconds: 40, names })
    const options = { name, seed, plan, tasks: 300, versions: 10, batches: 10, release }
    const { violations } = await runScenario(options, say).finally(() => rm(release, GONE))
    const first = violations.find(({ invariant }) => invariants.includes(invariant))
    const found = first ? `${first.invariant}: ${first.what}` : null
    say(`  ${found ?? 'NOT FOUND'}`)
    await record({ name, seed, found })
    isFound &&= found !== null
  }
  return isFound
}

const soak = async (seed: number): Promise<boolean> => {
  const minutes = Number(values.minutes)
  const { outcome, tasksPerSecond, courses } = await runSoak({ seed, minutes, say })
  report(outcome)
  await record({ ...outcome, courses })
  say(`  ${tasksPerSecond.toFixed(1)} tasks a second`)
  console.table(courses)
  return outcome.violations.length === 0
}

const main = async (): Promise<boolean> => {
  process.env['WORKFLOW_BUNDLE'] = await bundleWorkflows()
  if (values.soak) return await soak(Number(values.seed))
  const done = await readDone()
  let isWell = true
  for (const seed of values.seed.split(',').map(Number)) {
    for (const [name, make] of Object.entries(SCENARIOS)) {
      if (!isChosen(name) || done.has(`${name} ${seed}`)) continue
      const scenario = { name, seed, ...make(seed, size) }
      const replayed =
        values.replay && (JSON.parse(await readFile(values.replay, 'utf8')) as Fault[])
      isWell = (await validate(replayed ? { ...scenario, plan: replayed } : scenario)) && isWell
    }
    isWell = (await checkBroken(seed)) && isWell
    if (isChosen('fuzz'))
      isWell = (await fuzz({ seed, seconds: size.seconds, only: values.case }, say)) && isWell
  }
  return isWell
}

// Node 20 was seen to spin for ever in `CleanupHandles` when it ended by itself.
process.exit((await main()) ? 0 : 1)
