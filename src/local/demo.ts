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
  before?: string
  after?: string
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
  }))
  out.write(`\n${runs.length} jobs, one of every kind:\n\n`)
  const show = (): void => progress.show(runs)
  show()
  await Promise.all(runs.map(async (run) => await runJob(run, { client, outDir, signal, show })))
  signal.throwIfAborted()
  out.write(describeRuns(runs, options.temporalUi))
  return runs.every(({ status, fault }) => status === 'COMPLETED' && fault === undefined)
}

interface JobOptions {
  client: DemoClient
  outDir: string
  signal: AbortSignal
  show: () => void
}

const runJob = async (run: Run, options: JobOptions): Promise<void> => {
  const { client, outDir } = options
  const { job } = run
  try {
    const ended = await followTask(run, options)
    if (ended.status !== 'COMPLETED') throw new Error(describeFailure(ended))
    run.before = join(outDir, `${job.name}.before${extname(job.sample)}`)
    await copyFile(join(SAMPLES, job.sample), run.before)
    run.after = await client.save(ended.generated[0] ?? '', join(outDir, `${job.name}.after`))
  } catch (error) {
    run.fault = error instanceof Error ? error.message : String(error)
    if (run.task === undefined) run.status = 'refused'
  }
  options.show()
}

const followTask = async (run: Run, { client, signal, show }: JobOptions): Promise<DemoTask> => {
  const start = Date.now()
  run.task = await client.create(run.job, SAMPLES)
  for (;;) {
    run.status = run.task.status
    run.elapsedMs = Date.now() - start
    show()
    if (run.status === 'COMPLETED' || run.status === 'FAILED') return run.task
    if (run.elapsedMs > JOB_MS) throw new Error(`not ended after ${JOB_MS / 1000} s`)
    await sleep(POLL_MS, undefined, { signal })
    run.task = await client.read(run.job, run.task.task_id)
  }
}

const describeFailure = ({ status, error }: DemoTask): string =>
  error === undefined ? status : `${error.code}: ${error.message}`

const describeRuns = (runs: Run[], temporalUi: string | undefined): string => {
  const lines = runs.flatMap((run) => {
    const files = [run.before, run.after].map((path) => path && relative('', path)).filter(Boolean)
    const indent = ' '.repeat(23)
    return [
      formatState(run),
      ...(files.length > 0 ? [`${indent}${files.join(' → ')}`] : []),
      ...(run.fault === undefined ? [] : [`${indent}${run.fault}`]),
      ...(temporalUi && run.task
        ? [
            `${indent}${temporalUi}/workflows/${encodeURIComponent(`image-task/${run.task.task_id}`)}`,
          ]
        : []),
    ]
  })
  const done = runs.filter(({ fault, status }) => !fault && status === 'COMPLETED').length
  return `\n  ${'job'.padEnd(20)} ${'status'.padEnd(12)}     time   before → after, workflow\n${lines.join('\n')}\n\n${done} of ${runs.length} jobs succeeded.\n`
}
