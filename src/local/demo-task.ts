import { copyFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import type { DemoClient, DemoTask } from './demo-client.ts'
import type { DemoJob } from './demo-jobs.ts'
import type { DemoState, Out } from './demo-progress.ts'
import { ROOT } from './root.ts'

export interface DemoOptions {
  baseUrl: string
  token: string
  /** Address of the Temporal UI with its namespace, when there is one to show. */
  temporalUi?: string | undefined
  /** Draws a workflow and what it started, when Temporal can be asked. */
  drawTree?(workflowId: string): Promise<string[]>
  /** Ends the worker that renders with SIGKILL, and returns its pid; absent where it runs elsewhere. */
  killWorker?(): number
  /** The engine of ten lines runs beside the service. */
  hasEngine?: boolean
  /** Folder that gets each input with its result beside it. */
  outDir: string
  out: Out
  signal: AbortSignal
}

export interface FollowOptions {
  client: DemoClient
  signal: AbortSignal
  show(): void
  /** Jobs that were begun before, by name. */
  started: ReadonlyMap<string, Promise<DemoTask | undefined>>
}

const POLL_MS = 300
/** A machine that is short of cores takes a minute for all of them. */
const JOB_MS = 300_000

/** Creates a task and shows where it is until it has ended. Throws unless it succeeds. */
export const followTask = async (
  run: DemoRun,
  job: DemoJob,
  options: FollowOptions,
): Promise<DemoTask> => {
  const { client, signal, show } = options
  const source = await findSource(run, job, options)
  const start = Date.now()
  let task = await client.create(job, SAMPLES, source)
  run.workflowId = `${job.family}-task/${task.id}`
  for (;;) {
    run.status = task.status
    run.elapsedMs = Date.now() - start
    show()
    if (task.end === 'failed') throw new Error(task.issue ?? task.status)
    if (task.end !== undefined) return task
    if (run.elapsedMs > JOB_MS) throw new Error(`not ended after ${JOB_MS / 1000} s`)
    await sleep(POLL_MS, undefined, { signal })
    task = await client.read(job, task.id)
  }
}

/** The finished task that an extension continues. */
const findSource = async (
  run: DemoRun,
  job: DemoJob,
  { started, show }: FollowOptions,
): Promise<DemoTask | undefined> => {
  const name = job.family === 'video' ? job.continues : undefined
  if (name === undefined) return undefined
  run.status = 'waiting'
  show()
  const source = await started.get(name)
  if (source === undefined) throw new Error(`${name}, which it continues, did not succeed`)
  return source
}

/** Saves the sample and what was made of it; returns the paths. */
export const saveFiles = async (
  { name, sample }: DemoJob,
  { links }: DemoTask,
  { client, outDir }: { client: DemoClient; outDir: string },
): Promise<string[]> => {
  const files: string[] = []
  if (sample !== undefined) {
    const before = join(outDir, `${name}.before${extname(sample)}`)
    await copyFile(join(SAMPLES, sample), before)
    files.push(before)
  }
  for (const [index, link] of links.entries())
    files.push(await client.save(link, join(outDir, `${name}.${FILE_NAMES[index] ?? index}`)))
  return files
}

/** Names of the files behind a task's links: the first is the result itself. */
const FILE_NAMES = ['after', 'cover', 'watermarked']

/** A job, and what became of it. */
export interface DemoRun extends DemoState {
  workflowId?: string
  /** The input, then what was made of it. */
  files: string[]
  /** Further facts that a person would like to know of it, a line each. */
  notes: string[]
  hasSucceeded: boolean
  /** Why it did not end well. */
  issue?: string
}

export const startRun = (name: string): DemoRun => ({
  name,
  status: 'submitting',
  elapsedMs: 0,
  files: [],
  notes: [],
  hasSucceeded: false,
})

/** Folder of the inputs. */
export const SAMPLES = join(ROOT, 'samples')
