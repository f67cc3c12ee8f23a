import { copyFile, mkdir } from 'node:fs/promises'
import { extname, join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { makeDemoClient } from './demo-client.ts'
import type { DemoClient, DemoTask } from './demo-client.ts'
import { DEMO_JOBS } from './demo-jobs.ts'
import type { DemoJob } from './demo-jobs.ts'
import { formatState, makeProgress } from './demo-progress.ts'
import type { DemoState, Out } from './demo-progress.ts'
import { ROOT } from './root.ts'

export interface DemoOptions {
  baseUrl: string
  token: string
  /** Address of the Temporal UI with its namespace, when there is one to show. */
  temporalUi?: string | undefined
  /** Folder that gets each input with its result beside it. */
  outDir: string
  out: Out
  signal: AbortSignal
}

/** A job, and what became of it. */
interface Run extends DemoState {
  job: DemoJob
  task?: DemoTask
  /** The input, then what was made of it. */
  files: string[]
  /** Why it did not end well. */
  fault?: string
}

const SAMPLES = join(ROOT, 'samples')
const POLL_MS = 300
/** A machine that is short of cores takes a minute for all of them. */
const JOB_MS = 300_000

/** Runs one job of every kind against a service, shows how they go and where their files are; true when all succeeded. */
export const runDemo = async (options: DemoOptions): Promise<boolean> => {
  const { baseUrl, token, outDir, out, signal } = options
  await mkdir(outDir, { recursive: true })
  const client = makeDemoClient(baseUrl, token)
  const progress = makeProgress(out)
  const runs: Run[] = DEMO_JOBS.map((job) => ({
    job,
    name: job.name,
    status: 'submitting',
    elapsedMs: 0,
    files: [],
  }))
  out.write(`\n${runs.length} jobs, one of every kind:\n\n`)
  const show = (): void => progress.show(runs)
  show()
  const started = new Map<string, Promise<DemoTask | undefined>>()
  for (const run of runs)
    started.set(run.name, runJob(run, { client, outDir, signal, show, started }))
  await Promise.all(started.values())
  signal.throwIfAborted()
  out.write(describeRuns(runs, options.temporalUi))
  return runs.every(({ task, fault }) => task?.end === 'succeeded' && fault === undefined)
}

interface JobOptions {
  client: DemoClient
  outDir: string
  signal: AbortSignal
  show: () => void
  /** Jobs that were begun before, by name. */
  started: ReadonlyMap<string, Promise<DemoTask | undefined>>
}

/** Answers the task when it has succeeded. */
const runJob = async (run: Run, options: JobOptions): Promise<DemoTask | undefined> => {
  try {
    const ended = await followTask(run, options)
    if (ended.end !== 'succeeded') throw new Error(ended.fault ?? ended.status)
    await saveFiles(run, ended, options)
    return ended
  } catch (error) {
    run.fault = error instanceof Error ? error.message : String(error)
    if (run.task === undefined) run.status = 'refused'
    return undefined
  } finally {
    options.show()
  }
}

const followTask = async (run: Run, options: JobOptions): Promise<DemoTask> => {
  const { client, signal, show } = options
  const source = await findSource(run, options)
  const start = Date.now()
  run.task = await client.create(run.job, SAMPLES, source)
  for (;;) {
    run.status = run.task.status
    run.elapsedMs = Date.now() - start
    show()
    if (run.task.end !== undefined) return run.task
    if (run.elapsedMs > JOB_MS) throw new Error(`not ended after ${JOB_MS / 1000} s`)
    await sleep(POLL_MS, undefined, { signal })
    run.task = await client.read(run.job, run.task.id)
  }
}

/** The finished task that an extension continues. */
const findSource = async (
  run: Run,
  { started, show }: JobOptions,
): Promise<DemoTask | undefined> => {
  const name = run.job.family === 'video' ? run.job.continues : undefined
  if (name === undefined) return undefined
  run.status = 'waiting'
  show()
  const source = await started.get(name)
  if (source === undefined) throw new Error(`${name}, which it continues, did not succeed`)
  return source
}

const saveFiles = async (
  run: Run,
  { links }: DemoTask,
  { client, outDir }: JobOptions,
): Promise<void> => {
  const { name, sample } = run.job
  if (sample !== undefined) {
    const before = join(outDir, `${name}.before${extname(sample)}`)
    await copyFile(join(SAMPLES, sample), before)
    run.files.push(before)
  }
  for (const [index, link] of links.entries())
    run.files.push(await client.save(link, join(outDir, `${name}.${FILE_NAMES[index] ?? index}`)))
}

/** What the links of a task name: the first is the result itself. */
const FILE_NAMES = ['after', 'cover', 'watermarked']

const describeRuns = (runs: Run[], temporalUi: string | undefined): string => {
  const indent = ' '.repeat(23)
  const lines = runs.flatMap((run) => [
    formatState(run),
    ...(run.files.length > 0
      ? [`${indent}${run.files.map((path) => relative('', path)).join(' → ')}`]
      : []),
    ...(run.fault === undefined ? [] : [`${indent}${run.fault}`]),
    ...(temporalUi && run.task ? [`${indent}${temporalUi}/workflows/${workflowOf(run)}`] : []),
  ])
  const done = runs.filter(({ fault, task }) => !fault && task?.end === 'succeeded').length
  return `\n  ${'job'.padEnd(20)} ${'status'.padEnd(14)}     time   input → results, workflow\n${lines.join('\n')}\n\n${done} of ${runs.length} jobs succeeded.\n`
}

const workflowOf = ({ job, task }: Run): string =>
  encodeURIComponent(`${job.family}-task/${task?.id}`)
