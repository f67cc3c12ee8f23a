import { relative } from 'node:path'

import { makeCall, makeDemoClient } from './demo-client.ts'
import { KILLED_JOB } from './demo-jobs.ts'
import { formatState } from './demo-progress.ts'
import { followTask, saveFiles, startRun, type DemoOptions, type DemoRun } from './demo-task.ts'

/** Makes a video, kills the worker in the middle of its render, and shows that it ends all the same; true when it has. */
export const runKilled = async (
  { out, baseUrl, token, outDir, signal }: DemoOptions,
  killWorker: () => number,
): Promise<boolean> => {
  out.write('\nA video, and `kill -9` of the worker that renders it:\n\n')
  const client = makeDemoClient(makeCall(baseUrl, token))
  const run = startRun(KILLED_JOB.name)
  let killed = false
  const show = (): void => {
    if (killed || !isUnderWay(run)) return
    killed = true
    out.write(`${formatState(run)}\n  kill -9 ${killWorker()}\n`)
  }
  try {
    const task = await followTask(run, KILLED_JOB, { client, signal, show, started: new Map() })
    const [file = ''] = await saveFiles(KILLED_JOB, task, { client, outDir })
    out.write(`${formatState(run)}   ${relative('', file)}\n`)
    return killed
  } catch (error) {
    signal.throwIfAborted()
    out.write(`${formatState(run)}   ${error instanceof Error ? error.message : String(error)}\n`)
    return false
  }
}

/** Says whether some of its frames are rendered. */
const isUnderWay = ({ status }: DemoRun): boolean => / [1-9]\d%$/.test(status)
