import { mkdir } from 'node:fs/promises'
import { join, relative } from 'node:path'

import { makeCall, makeDemoClient, type DemoTask } from './demo-client.ts'
import { DEMO_JOBS } from './demo-jobs.ts'
import { runOnDemoEngine } from './demo-engine.ts'
import { runKilled } from './demo-kill.ts'
import { formatState, makeProgress } from './demo-progress.ts'
import { publishSamplePack } from './demo-publish.ts'
import {
  SAMPLES,
  followTask,
  saveFiles,
  startRun,
  type DemoOptions,
  type DemoRun,
} from './demo-task.ts'

/** Runs one job of every kind against a service, shows how they go and where their files are; true when all succeeded. */
export const runDemo = async (options: DemoOptions): Promise<boolean> => {
  const { out, signal, temporalUi, outDir, killWorker } = options
  await mkdir(outDir, { recursive: true })
  const hasSurvived = !killWorker || (await runKilled(options, killWorker))
  const hasRendered = !options.hasEngine || (await runOnDemoEngine(options))
  const progress = makeProgress(out)
  const names = [...DEMO_JOBS.map(({ name }) => name), 'publish']
  const runs = names.map(startRun)
  out.write(`\n${runs.length} jobs, one of every kind:\n\n`)
  const show = (): void => progress.show(runs)
  show()
  await runAll(runs, options, show)
  signal.throwIfAborted()
  out.write(describeRuns(runs, temporalUi))
  return hasSurvived && hasRendered && runs.every(({ hasSucceeded }) => hasSucceeded)
}

/** Runs all jobs at once, except jobs that wait for another's result. */
const runAll = async (runs: DemoRun[], options: DemoOptions, show: () => void): Promise<void> => {
  const { baseUrl, token, outDir, signal } = options
  const call = makeCall(baseUrl, token)
  const client = makeDemoClient(call)
  const started = new Map<string, Promise<DemoTask | undefined>>()
  const all = runs.map((run) => {
    const job = DEMO_JOBS.find(({ name }) => name === run.name)
    const going = drain(run, show, async () => {
      if (!job) return await publish(run, { ...options, show })
      const task = await followTask(run, job, { client, signal, show, started })
      run.files.push(...(await saveFiles(job, task, { client, outDir })))
      return task
    })
    started.set(run.name, going)
    return going
  })
  await Promise.all(all)
}

/** Records how a job ends. Returns what it made; undefined when it failed. */
const drain = async <T>(
  run: DemoRun,
  show: () => void,
  work: () => Promise<T>,
): Promise<T | undefined> => {
  try {
    const made = await work()
    run.hasSucceeded = true
    return made
  } catch (error) {
    run.issue = error instanceof Error ? error.message : String(error)
    if (run.workflowId === undefined) run.status = 'rejected'
    return undefined
  } finally {
    show()
  }
}

const publish = async (
  run: DemoRun,
  { baseUrl, token, outDir, signal, drawTree, show }: DemoOptions & { show: () => void },
): Promise<undefined> => {
  const start = Date.now()
  const { files, notes } = await publishSamplePack({
    call: makeCall(baseUrl, token),
    pack: join(SAMPLES, 'pack'),
    outDir,
    signal,
    onStep: (step) => {
      run.status = step
      run.elapsedMs = Date.now() - start
      show()
    },
    onStart: (versionId) => {
      run.workflowId = `publish-version/${versionId}`
    },
  })
  run.status = 'Active'
  run.files.push(...files)
  run.notes.push(...notes)
  if (drawTree && run.workflowId) run.notes.push(...(await drawTree(run.workflowId)))
}

const describeRuns = (runs: DemoRun[], temporalUi: string | undefined): string => {
  const indent = ' '.repeat(23)
  const lines = runs.flatMap((run) => [
    formatState(run),
    ...(run.files.length > 0
      ? [`${indent}${run.files.map((path) => relative('', path)).join(' → ')}`]
      : []),
    ...(run.issue === undefined ? [] : [`${indent}${run.issue}`]),
    ...run.notes.map((note) => `${indent}${note}`),
    ...(temporalUi && run.workflowId
      ? [`${indent}${temporalUi}/workflows/${encodeURIComponent(run.workflowId)}`]
      : []),
  ])
  const done = runs.filter(({ hasSucceeded }) => hasSucceeded).length
  return `\n  ${'job'.padEnd(20)} ${'status'.padEnd(14)}     time   input → results, workflow\n${lines.join('\n')}\n\n${done} of ${runs.length} jobs succeeded.\n`
}
