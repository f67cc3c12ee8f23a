import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { VideoBinaries } from '../binaries.ts'

export interface ChildOrder {
  /** Absolute path. */
  program: string
  args: readonly string[]
  /** The folder it works in; holds its record while it runs. */
  dir: string
  /** Ends the child and what it started: SIGTERM, after 2 s SIGKILL. */
  signal: AbortSignal
  binaries: Pick<VideoBinaries, 'setpriv' | 'user' | 'recordChild'>
  /** Most address space where `setpriv` is there, in MiB; 4096 when absent. */
  memoryMib?: number
  /** Called once it runs and is recorded. */
  onStart?: () => void
  /** Gets each line of its standard output. */
  onLine?: (line: string) => void
}

/** A child that did not end well. The cause has the last 4 KiB of its standard error. */
export class ChildError extends Error {
  override name = 'ChildError'
  /** Undefined when a signal ended it. */
  readonly exitCode: number | undefined
  /** `ENOSPC` when it found no room; other causes have none. */
  readonly code: 'ENOSPC' | undefined

  constructor(code: number | null, signal: string | null, stderr: string) {
    super(`a program of the video engine ended with ${code === null ? signal : `code ${code}`}`, {
      cause: new Error(stderr),
    })
    this.exitCode = code ?? undefined
    this.code = NO_ROOM.test(stderr) ? 'ENOSPC' : undefined
  }
}

/** The system's words for ENOSPC and EDQUOT, which ffmpeg repeats. */
const NO_ROOM = /No space left on device|Disk quota exceeded/

const GRACE_MS = 2000
const KEPT_STDERR_BYTES = 4096

type Child = ChildProcessByStdio<null, Readable, Readable>

/**
 * Runs a program in a process group of its own with an empty environment, and waits for its end. Where `setpriv` is
 * there the kernel kills it with this process; elsewhere its record lets the next process do so.
 * @throws the signal's reason once aborted; `ChildError` when it does not end with code 0; the system's error when it
 * does not start
 */
export const runChild = async (order: ChildOrder): Promise<void> => {
  order.signal.throwIfAborted()
  const child = start(order)
  const stderr = keepTail(child.stderr)
  if (order.onLine) createInterface({ input: child.stdout }).on('line', order.onLine)
  else child.stdout.resume()
  const stop = stopOnAbort(child, order.signal)
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
  // It may fail to start while something else is awaited.
  closed.catch(() => {})
  let record: string | undefined
  try {
    if (child.pid !== undefined) record = await order.binaries.recordChild?.(order.dir, child.pid)
    if (isRunning(child)) order.onStart?.()
    const [code, signal] = await closed
    order.signal.throwIfAborted()
    if (code !== 0) throw new ChildError(code, signal, stderr())
  } finally {
    stop()
    if (isRunning(child)) {
      killGroup(child, 'SIGKILL')
      await closed.catch(() => {})
    }
    if (record !== undefined) await rm(record, { force: true })
  }
}

const isRunning = ({ pid, exitCode, signalCode }: Child): boolean =>
  pid !== undefined && exitCode === null && signalCode === null

const start = ({ program, args, dir, memoryMib = MAX_MIB, ...order }: ChildOrder): Child => {
  const { setpriv, user } = order.binaries
  const before = setpriv === undefined ? [] : [...bindToUs(memoryMib), program]
  return spawn(setpriv ?? program, [...before, ...args], {
    ...user,
    cwd: dir,
    env: {},
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
  })
}

/** A source of 4096×4096 with 16 pictures to refer to, cross-faded at 1080p, takes 1.5 GB. */
const MAX_MIB = 4096

/**
 * Arguments of `setpriv` that let the kernel kill a program with this process. When this process dies before `setpriv`
 * has asked for that, no signal comes. The shell then sees that it has another parent, and does not start the program. The shell also bounds the memory.
 */
const bindToUs = (memoryMib: number): string[] => [
  '--pdeathsig',
  'SIGKILL',
  '--',
  '/bin/sh',
  '-c',
  `[ "$PPID" = "$0" ] && ulimit -v ${memoryMib * 1024} && exec "$@"`,
  String(process.pid),
]

const keepTail = (stream: Readable): (() => string) => {
  let tail = Buffer.alloc(0)
  stream.on('data', (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]).subarray(-KEPT_STDERR_BYTES)
  })
  return () => tail.toString('utf8')
}

/** Returns a function that ends the watch. */
const stopOnAbort = (child: Child, signal: AbortSignal): (() => void) => {
  let timer: NodeJS.Timeout | undefined
  const stop = () => {
    killGroup(child, 'SIGTERM')
    timer = setTimeout(() => killGroup(child, 'SIGKILL'), GRACE_MS)
  }
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  return () => {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}

const killGroup = (child: Child, signal: NodeJS.Signals): void => {
  if (child.pid === undefined) return
  try {
    if (process.platform === 'win32') child.kill(signal)
    else process.kill(-child.pid, signal)
  } catch {
    // Gone already.
  }
}
