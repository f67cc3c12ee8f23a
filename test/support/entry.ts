import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

import { withDeathSignal } from '../../src/local/child.ts'
import { ROOT, codePath } from '../../src/local/root.ts'
import { waitFor } from './wait.ts'

/** One of the service's own processes. */
export interface Entry {
  pid: number
  /** Its log lines so far. */
  log: string[]
  /** The code or signal that it ended by; undefined while it runs. */
  how(): string | undefined
  /** Waits until it ends by itself and returns how; throws with its log when it goes on. */
  end(): Promise<string>
  signal(name: NodeJS.Signals): void
  /** SIGKILL, and waits for the end. */
  kill(): Promise<void>
}

export interface EntryOptions {
  /** Path of the program: absolute, or a source below the checkout. */
  path: string
  args?: string[]
  readyMessage: string
  env: NodeJS.ProcessEnv
}

/** Starts an entry and waits until its log says that it is ready. Throws with the log when it ends before. */
export const startEntry = async ({ readyMessage, ...options }: EntryOptions): Promise<Entry> => {
  const mark = `"msg":"${readyMessage}"`
  return await new Promise((resolve, reject) => {
    const entry = spawnEntry(options, {
      onLine: (line) => line.includes(mark) && resolve(entry),
      onEnd: (how) =>
        reject(
          new Error(`${options.path} ended (${how}) before it was ready:\n${entry.log.join('\n')}`),
        ),
    })
  })
}

interface Listener {
  onLine?: (line: string) => unknown
  onEnd?: (how: string) => void
}

/** Starts an entry, which may end at once. */
export const spawnEntry = (
  { path, args = [], env }: Omit<EntryOptions, 'readyMessage'>,
  { onLine, onEnd }: Listener = {},
): Entry => {
  // A run that is interrupted ends the processes of tests, and those must not leave theirs.
  const [program, ...rest] = withDeathSignal('SIGKILL', [process.execPath, codePath(path), ...args])
  const child = spawn(program, rest, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const log: string[] = []
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => {
      log.push(line)
      onLine?.(line)
    })
  let how: string | undefined
  const wait = async (): Promise<void> => {
    const [code, signal] = await once(child, 'close')
    how = String(signal ?? code)
    onEnd?.(how)
  }
  const ended = wait()
  return {
    pid: child.pid ?? 0,
    log,
    how: () => how,
    end: () =>
      waitFor(
        () => `${path} has ended:\n${log.join('\n')}`,
        () => how,
      ),
    signal: (name) => child.kill(name),
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
