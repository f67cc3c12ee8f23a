import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir, rename, stat } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

import { findProcess, signalProcess, type ProcessId } from './process-table.ts'

/** End of a process; one of the two is set. */
export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

/** A process that was started and its end. */
export interface Running {
  id: ProcessId
  stopSignal: NodeJS.Signals
  exited: Promise<Exit>
  /** Asks it to end, waits, and kills it when it takes too long. */
  stop(): Promise<void>
  /** SIGKILL, and waits until it is reaped. */
  kill(): Promise<void>
}

export interface ChildOptions {
  name: string
  command: string
  args: string[]
  /** The whole environment of the child. */
  env: NodeJS.ProcessEnv
  cwd: string
  uid?: number
  gid?: number
  /** Signal that asks it to end, and the one that ends it when this process dies without a word. */
  stopSignal: NodeJS.Signals
  deathSignal: NodeJS.Signals
  /** Time for a stop until SIGKILL. */
  stopMs: number
  /** Everything it prints goes into this file. */
  logPath: string
  onLine?: (line: string) => void
}

export interface Child extends Running {
  /** The last lines of a process that has ended, for the message about an end nobody asked for. */
  tail(): Promise<string[]>
}

/** A log that outgrew this is set aside at the next start; one older file is kept. */
const LOG_MAX_BYTES = 20_000_000
const TAIL_LINES = 20

/** Starts a process in a session of its own, so that Ctrl-C in the terminal reaches only us. Throws when it cannot be started. */
export const startChild = async (options: ChildOptions): Promise<Child> => {
  await rotate(options.logPath)
  const child = spawnChild(options)
  const tail = keepLog(child, options)
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
  const closed = new Promise<void>((resolve) => {
    child.once('close', () => resolve())
  })
  await once(child, 'spawn').catch((error: unknown) => {
    throw new Error(`${options.name} cannot be started: ${String(error)}`, { cause: error })
  })
  const pid = child.pid as number
  // Once it is reaped its pid may be somebody else's.
  const ended = (): boolean => child.exitCode !== null || child.signalCode !== null
  const killGroup = (): void => {
    if (!ended()) signalProcess(-pid, 'SIGKILL')
  }
  return {
    // Gone already: a start time that no living process has.
    id: findProcess(pid) ?? { pid, startedAt: 'ended' },
    stopSignal: options.stopSignal,
    exited,
    tail: async () => {
      // A grandchild that lives on may hold the pipe open; what came until then is enough.
      await Promise.race([closed, sleep(500)])
      return tail
    },
    stop: async () => {
      if (!ended()) signalProcess(pid, options.stopSignal)
      const timer = setTimeout(killGroup, options.stopMs)
      await exited
      clearTimeout(timer)
    },
    kill: async () => {
      killGroup()
      await exited
    },
  }
}

/** Says in words how a process ended. */
export const describeExit = ({ code, signal }: Exit): string =>
  signal === null ? `ended with code ${code}` : `was ended by ${signal}`

/**
 * Waits for `ready`, and throws with the last lines of the log when the process ends before. The signal aborts
 * `ready` once nobody waits any more.
 */
export const untilReady = async (
  child: Child,
  name: string,
  ready: (signal: AbortSignal) => Promise<void>,
): Promise<void> => {
  const over = new AbortController()
  const early = child.exited.then(async (exit) => {
    const lines = (await child.tail()).map((line) => `  ${line}`)
    throw new Error([`${name} ${describeExit(exit)} before it was ready`, ...lines].join('\n'))
  })
  // The end of a process that did get ready is for somebody else to report.
  early.catch(() => {})
  try {
    await Promise.race([ready(over.signal), early])
  } finally {
    over.abort()
  }
}

const spawnChild = (options: ChildOptions): ChildProcess => {
  const { command, args, env, cwd, uid, gid, deathSignal } = options
  const [program, ...rest] = withDeathSignal(deathSignal, [command, ...args])
  const child = spawn(program, rest, {
    cwd,
    env,
    ...(uid === undefined ? {} : { uid }),
    ...(gid === undefined ? {} : { gid }),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // Later errors are signals that could not be delivered, which the callers see for themselves.
  child.on('error', () => {})
  return child
}

type Command = [program: string, ...args: string[]]

/** The command as one that gets this signal when its parent dies, where the system can do that. */
export const withDeathSignal = (signal: NodeJS.Signals, command: Command): Command => {
  setpriv ??= findSetpriv()
  return setpriv === '' ? command : [setpriv, '--pdeathsig', signal.replace('SIG', ''), ...command]
}

let setpriv: string | undefined

/** Absolute, because the child may have another PATH. The `setpriv` of busybox lacks the option, and macOS has none. */
const findSetpriv = (): string =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'setpriv'))
    .find(
      (path) => spawnSync(path, ['--pdeathsig', 'KILL', 'true'], { stdio: 'ignore' }).status === 0,
    ) ?? ''

const keepLog = (child: ChildProcess, { logPath, onLine }: ChildOptions): string[] => {
  const tail: string[] = []
  const log = createWriteStream(logPath, { flags: 'a', mode: 0o600 })
  // A full disk must not end the stack for the sake of its logs.
  log.on('error', () => {})
  for (const stream of [child.stdout, child.stderr])
    if (stream !== null)
      createInterface({ input: stream, crlfDelay: Infinity }).on('line', (line) => {
        log.write(`${line}\n`)
        tail.push(line)
        if (tail.length > TAIL_LINES) tail.shift()
        onLine?.(line)
      })
  child.once('close', () => log.end())
  return tail
}

const rotate = async (path: string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true })
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  )
  if (size > LOG_MAX_BYTES) await rename(path, `${path}.1`)
}
