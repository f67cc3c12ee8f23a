/**
 * What `npm run test:faults` runs: tasks, publications and events while processes are killed, stopped and cut off from each
 * other, and the ledgers of callers, receivers and rows judged afterwards. `--seed 1,2` says which faults, `--tasks` how many
 * tasks, `--seconds` for how long faults come, `--replay <plan.json>` repeats those of a run that failed, `--only <scenario>`
 * chooses one: everything, postgres, a mistake, of which builds are made that must be found, or fuzz, which sends bad input;
 * `--case <number>` sends one request of it.
 */
import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'

import { bundleWorkflows } from '../../src/local/workflow-bundle.ts'
import { makeRandom } from '../faults/random.ts'
import { MISTAKES, buildBroken } from './broken.ts'
import { fuzz } from './fuzz.ts'
import { describeFault, makePlan, shorten } from './plan.ts'
import type { Fault } from './plan.ts'
import { runScenario } from './scenario.ts'
import { runSoak } from './soak.ts'
import type { Outcome, Scenario } from './scenario.ts'

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
    case: { type: 'string' },
    /** Runs that look for a shorter plan, when one fails. */
    tries: { type: 'string', default: '6' },
  },
})

const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

const isChosen = (name: string): boolean => values.only === undefined || name.includes(values.only)

const size = { tasks: Number(values.tasks), versions: Number(values.versions) }
const seconds = Number(values.seconds)
const number = values.case === undefined ? undefined : Number(values.case)

/** The scenarios of a seed. */
const SCENARIOS: Record<string, (seed: number) => Scenario> = {
  everything: (seed) => ({
    ...size,
    name: 'everything',
    seed,
    plan: makePlan({ seed, seconds }),
  }),
  postgres: (seed) => ({
    name: 'postgres',
    seed,
    tasks: size.tasks * 5,
    versions: 0,
    plan: planOutages(seed, seconds * 4),
  }),
}

/** PostgreSQL is down every 5 to 10 seconds, for up to 2. */
const planOutages = (seed: number, seconds: number): Fault[] => {
  const random = makeRandom(seed)
  const plan: Fault[] = []
  for (let atMs = 3000; atMs < seconds * 1000; atMs += 5000 + Math.round(5000 * random()))
    plan.push({ name: 'kill-server', target: 'postgres', atMs, forMs: Math.round(2000 * random()) })
  return plan
}

const tell = ({ violations, kept, ...outcome }: Outcome): void => {
  const { orders, faults, reconciled, events, repeated, recoveryMs, seconds } = outcome
  say(
    `  ${orders} orders, ${faults} faults, ${reconciled} reconciled, ${events} events told, ${repeated} again, recovery ${recoveryMs.p50} ms (p99 ${recoveryMs.p99} ms), ${seconds} s: ${violations.length === 0 ? 'nothing lost, nothing twice' : `${violations.length} VIOLATIONS`}`,
  )
  for (const { invariant, what } of violations.slice(0, 20)) say(`  ${invariant}: ${what}`)
  if (kept !== undefined) say(`  kept in ${kept}`)
}

const judge = async (scenario: Scenario): Promise<boolean> => {
  const outcome = await runScenario(scenario, say)
  tell(outcome)
  if (outcome.violations.length === 0) return true
  const fails = async (plan: readonly Fault[]): Promise<boolean> =>
    (await runScenario({ ...scenario, plan }, say)).violations.length > 0
  const shortest = await shorten(scenario.plan, fails, Number(values.tries))
  say(
    `  the shortest that fails:\n${shortest.map((fault) => `    ${describeFault(fault)}`).join('\n')}`,
  )
  return false
}

/** Whether each mistake is found by what it breaks. */
const judgeBroken = async (seed: number): Promise<boolean> => {
  let isFound = true
  for (const name of Object.keys(MISTAKES) as (keyof typeof MISTAKES)[]) {
    if (!isChosen(name)) continue
    const build = await buildBroken(name)
    try {
      const plan = makePlan({ seed, seconds: 40 })
      const options = { name, seed, plan, tasks: 300, versions: 10, release: build.folder }
      const { violations } = await runScenario(options, say)
      const found = violations.filter(({ invariant }) =>
        (MISTAKES[name].invariants as readonly string[]).includes(invariant),
      )
      say(
        `  ${found.length > 0 ? `found: ${found[0]?.invariant}, ${found[0]?.what}` : 'NOT FOUND'}`,
      )
      isFound &&= found.length > 0
    } finally {
      await build.remove()
    }
  }
  return isFound
}

const soak = async (seed: number): Promise<boolean> => {
  const { outcome, tasksPerSecond, courses } = await runSoak({
    seed,
    minutes: Number(values.minutes),
    say,
  })
  tell(outcome)
  say(
    `  ${tasksPerSecond.toFixed(1)} tasks a second\n\n  figure | before | during | after | an hour`,
  )
  for (const { name, before, during, after, perHour, error } of courses)
    say(
      `  ${name} | ${[before, during, after].map((value) => value.toFixed(1)).join(' | ')} | ${perHour.toFixed(1)} ± ${error.toFixed(1)}`,
    )
  return outcome.violations.length === 0
}

const main = async (): Promise<boolean> => {
  process.env['WORKFLOW_BUNDLE'] = await bundleWorkflows()
  if (values.soak) return await soak(Number(values.seed))
  let isWell = true
  for (const seed of values.seed.split(',').map(Number)) {
    for (const [name, plan] of Object.entries(SCENARIOS)) {
      if (!isChosen(name)) continue
      const scenario = plan(seed)
      const replayed =
        values.replay && (JSON.parse(await readFile(values.replay, 'utf8')) as Fault[])
      isWell = (await judge(replayed ? { ...scenario, plan: replayed } : scenario)) && isWell
    }
    isWell = (await judgeBroken(seed)) && isWell
    if (isChosen('fuzz')) isWell = (await fuzz({ seed, seconds, only: number }, say)) && isWell
  }
  return isWell
}

process.exitCode = (await main()) ? 0 : 1
