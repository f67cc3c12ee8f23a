import { setTimeout as sleep } from 'node:timers/promises'
import { EventEmitter, once } from 'node:events'
import { join } from 'node:path'

import { startChild, untilReady, type Child } from './child.ts'
import { describeLogLine, type Say } from './console.ts'
import { ROOT, codePath } from './root.ts'
import type { Service } from './supervisor.ts'

export interface NodeProcessOptions {
  name: string
  /** Source of the entry, below the checkout. */
  entry: string
  env: NodeJS.ProcessEnv
  logDir: string
  /** Time for a stop until SIGKILL; longer than the process gives itself. */
  stopMs: number
  onLine?: (line: string) => void
}

export interface NodeServiceOptions extends NodeProcessOptions {
  /** Message of the log line that says it is ready. */
  readyMessage: string
  /** Address that must respond with 200, too, before it counts as ready. */
  readyUrl?: string
  say: Say
}

const READY_MS = 120_000

/** Makes the service of one of our own entries. */
export const makeNodeService = (options: NodeServiceOptions): Service => ({
  name: options.name,
  launch: async (onSpawn) => {
    const announced = new EventEmitter()
    const ready = once(announced, 'ready')
    const mark = `"msg":${JSON.stringify(options.readyMessage)}`
    const child = await startNode({
      ...options,
      onLine: (line) => {
        if (line.includes(mark)) announced.emit('ready')
        // A process that dies before it is ready prints why, which the error of its start repeats.
        const starting = announced.listenerCount('ready') > 0
        const shown = describeLogLine(options.name, line)
        if (shown !== undefined && (!starting || line.startsWith('{'))) options.say(shown)
      },
    })
    onSpawn(child)
    await untilReady(child, options.name, async (signal) => {
      await Promise.race([
        ready,
        fail(`${options.name} was not ready in ${READY_MS / 1000} s`, signal),
      ])
      if (options.readyUrl !== undefined) await untilOk(options.readyUrl, signal)
    })
  },
})

/** Runs one of our own entries to its end. Throws with its last lines when it fails. */
export const runNode = async (options: NodeProcessOptions): Promise<void> => {
  const child = await startNode(options)
  const { code } = await child.exited
  if (code === 0) return
  const lines = (await child.tail()).map(
    (line) => `  ${describeLogLine(options.name, line) ?? line}`,
  )
  throw new Error([`${options.name} failed:`, ...lines].join('\n'))
}

const startNode = async (options: NodeProcessOptions): Promise<Child> =>
  await startChild({
    name: options.name,
    command: process.execPath,
    args: [codePath(options.entry)],
    env: options.env,
    cwd: ROOT,
    stopSignal: 'SIGTERM',
    // Its servers end at the same moment, so there is nothing it could finish.
    deathSignal: 'SIGKILL',
    stopMs: options.stopMs,
    logPath: join(options.logDir, `${options.name}.log`),
    ...(options.onLine === undefined ? {} : { onLine: options.onLine }),
  })

const fail = async (message: string, signal: AbortSignal): Promise<never> => {
  await sleep(READY_MS, undefined, { signal, ref: false })
  throw new Error(message)
}

const untilOk = async (url: string, signal: AbortSignal): Promise<void> => {
  const deadline = Date.now() + READY_MS
  while (!signal.aborted) {
    const status = await fetch(url, { signal: AbortSignal.timeout(5000) }).then(
      (response) => response.status,
      () => undefined,
    )
    if (status === 200) return
    if (Date.now() > deadline) throw new Error(`${url} responds with ${status ?? 'nothing'}`)
    await sleep(50)
  }
}
