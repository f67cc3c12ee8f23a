import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

import { customPath } from '../tasks/domain/custom-kind.ts'
import type { ImageTaskRecord } from '../tasks/domain/image/image-task.ts'
import { makeCall, makeDemoClient } from './demo-client.ts'
import { formatState } from './demo-progress.ts'
import { SAMPLES, startRun, type DemoOptions } from './demo-task.ts'
import { findPort } from './port.ts'
import { ROOT } from './root.ts'

const NAME = 'moire'
const SOURCE = join(SAMPLES, 'engine', `${NAME}.py`)

/** An engine that runs beside a stack, and the setting by which that calls it. */
export interface DemoEngine {
  settings: { ENGINES_HTTP?: string }
  stop(): Promise<void>
}

/** Starts an engine of ten lines of Python; none where there is no Python that it can run with. */
export const startDemoEngine = async (): Promise<DemoEngine> => {
  const recent = ['-c', 'import sys; sys.exit(sys.version_info < (3, 10))']
  const isThere = await promisify(execFile)('python3', recent).then(
    () => true,
    () => false,
  )
  if (!isThere) return { settings: {}, stop: () => Promise.resolve() }
  const port = await findPort()
  const engine = spawn('python3', ['-m', 'kiln_engine', SOURCE, '--port', String(port)], {
    env: { ...process.env, PYTHONPATH: join(ROOT, 'packages/engine-python/src') },
    stdio: 'ignore',
  })
  const exited = once(engine, 'exit')
  return {
    settings: { ENGINES_HTTP: `${NAME}=http://127.0.0.1:${port}` },
    async stop() {
      engine.kill()
      await exited
    },
  }
}

const POLL_MS = 200
/** Workers look for new kinds every five seconds. */
const LISTED_MS = 60_000

/** Runs a task on the engine and shows how it goes; true when it succeeded. */
export const runOnDemoEngine = async (options: DemoOptions): Promise<boolean> => {
  const { out, baseUrl, token, outDir, signal } = options
  out.write(`\nAn engine of ten lines of Python, ${relative('', SOURCE)}:\n\n`)
  const call = makeCall(baseUrl, token)
  const run = startRun(NAME)
  const path = customPath(NAME)
  try {
    await untilListed(call, signal)
    const start = Date.now()
    let { data: task } = await call<Made>('POST', path, {})
    while (task.status !== 'COMPLETED' && task.status !== 'FAILED') {
      await sleep(POLL_MS, undefined, { signal })
      task = (await call<Made>('GET', `${path}/${task.task_id}`)).data
    }
    Object.assign(run, { status: task.status, elapsedMs: Date.now() - start })
    const [link] = task.generated
    if (link === undefined) throw new Error(task.error?.message)
    const file = await makeDemoClient(call).save(link, join(outDir, `${NAME}.after`))
    out.write(`${formatState(run)}   ${relative('', file)}\n`)
    return true
  } catch (error) {
    signal.throwIfAborted()
    out.write(`${formatState(run)}   ${error instanceof Error ? error.message : String(error)}\n`)
    return false
  }
}

interface Made {
  data: ImageTaskRecord
}

const untilListed = async (
  call: ReturnType<typeof makeCall>,
  signal: AbortSignal,
): Promise<void> => {
  for (let waitedMs = 0; waitedMs < LISTED_MS; waitedMs += POLL_MS) {
    const { templates } = await call<{ templates: { name: string }[] }>('GET', '/templates')
    if (templates.some(({ name }) => name === NAME)) return
    await sleep(POLL_MS, undefined, { signal })
  }
  throw new Error('no worker has found it')
}
