import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

import type { ChildUser } from '../../platform/adapters/child-user.ts'
import { recordChild } from '../../platform/adapters/orphan.ts'
import { confinementArguments } from './confinement.ts'
import type { ChildMessage, ChildOrder } from '../../../packages/inspector/src/messages.ts'

export interface ChildLimits {
  /** Resident bytes at which a child is ended. */
  rssBytes: number
  /** Milliseconds that one archive may take. */
  runMs: number
  /** JavaScript heap in megabytes. */
  heapMegabytes: number
}

/** End of a run: well, by what the archive did to the process, or by an error of this machine. */
export type RunEnd =
  | { end: 'done' }
  | { end: 'budget_memory' | 'budget_time' | 'crashed' }
  | { end: 'failed'; error: Error }

/** A process that reads one archive after another. */
export interface InspectorChild {
  /** Reads one archive and reports each section. Ends the process when the signal aborts. */
  run(
    order: ChildOrder,
    onMessage: (childMessage: ChildMessage) => void,
    signal?: AbortSignal,
  ): Promise<RunEnd>
  /** True when it may read another one. */
  isFit(): Promise<boolean>
  /** Ends it and waits for its end. */
  kill(): Promise<void>
}

const WATCH_MS = 100
const START_MS = 30_000
const MAX_RUNS = 50
const MAX_IDLE_RSS = 300 * 2 ** 20

/** Starts a child in a process group of its own, with an empty environment; `dir` holds archives and its record. */
export const startChild = async (
  dir: string,
  { user, ...limits }: ChildLimits & { user?: ChildUser | undefined },
): Promise<InspectorChild> => {
  const child = fork(INSPECTOR_ENTRY, {
    ...user,
    cwd: dir,
    env: {},
    detached: true,
    execArgv: [...confinementArguments(dir), `--max-old-space-size=${limits.heapMegabytes}`],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const exited = once(child, 'exit')
  exited.catch(() => {})
  await once(child, 'spawn')
  const record = child.pid === undefined ? undefined : await recordChild(dir, child.pid)
  const isAlive = () => child.exitCode === null && child.signalCode === null
  let runs = 0

  const kill = async (): Promise<void> => {
    killGroup(child)
    if (isAlive()) await exited.catch(() => {})
    if (record !== undefined) await rm(record, { force: true })
  }

  return {
    kill,
    isFit: async () => isAlive() && runs < MAX_RUNS && (await readRss(child)) < MAX_IDLE_RSS,
    async run(order, onMessage, signal) {
      runs += 1
      const end = await follow(child, { order, onMessage, signal, limits })
      if (end.end !== 'done') await kill()
      signal?.throwIfAborted()
      return end
    },
  }
}

/** Program of the process, which must be able to read it. */
export const INSPECTOR_ENTRY = fileURLToPath(
  new URL('../../../packages/inspector/src/child.js', import.meta.url),
)

interface Follow {
  order: ChildOrder
  onMessage(childMessage: ChildMessage): void
  signal: AbortSignal | undefined
  limits: ChildLimits
}

const follow = (
  child: ChildProcess,
  { order, onMessage, signal, limits }: Follow,
): Promise<RunEnd> =>
  new Promise((resolve) => {
    // The time that the process takes to start does not count for the archive.
    let start: number | undefined
    const asked = performance.now()
    const finish = (end: RunEnd): void => {
      clearInterval(watch)
      child.off('message', receive)
      child.off('exit', leave)
      child.off('error', fail)
      signal?.removeEventListener('abort', leave)
      resolve(end)
    }
    const leave = (): void => finish({ end: 'crashed' })
    const fail = (error: Error): void => finish({ end: 'failed', error })
    const receive = (message: unknown): void => {
      const childMessage = message as ChildMessage
      if (childMessage.kind === 'begin') start ??= performance.now()
      if (childMessage.kind === 'done') finish({ end: 'done' })
      else if (childMessage.kind === 'error')
        fail(Object.assign(new Error(childMessage.message), systemOf(childMessage)))
      else onMessage(childMessage)
    }
    // oxlint-disable-next-line no-restricted-globals -- limits of time hold while memory is read
    const watch = setInterval(() => {
      if (start === undefined) {
        if (performance.now() - asked > START_MS) fail(new Error('the process does not start'))
        return
      }
      if (performance.now() - start > limits.runMs) return finish({ end: 'budget_time' })
      void watchMemory()
    }, WATCH_MS)
    const watchMemory = async (): Promise<void> => {
      if ((await readRss(child)) > limits.rssBytes) finish({ end: 'budget_memory' })
    }
    child.on('message', receive)
    child.once('exit', leave)
    child.once('error', fail)
    signal?.addEventListener('abort', leave, { once: true })
    if (signal?.aborted || child.exitCode !== null || child.signalCode !== null) return leave()
    child.send(order, (error) => {
      if (error) leave()
    })
  })

const systemOf = ({ code }: { code: string | undefined }) =>
  code === undefined ? {} : { code, syscall: 'inspect' }

const PAGE_BYTES = 4096

/** Resident bytes; 0 where the system does not show them (the heap's limit and the time remain). */
const readRss = async ({ pid }: ChildProcess): Promise<number> => {
  try {
    const [, pages] = (await readFile(`/proc/${pid}/statm`, 'utf8')).split(' ')
    return Number(pages) * PAGE_BYTES
  } catch {
    return 0
  }
}

const killGroup = ({ pid }: ChildProcess): void => {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}
