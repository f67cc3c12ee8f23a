import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
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
export const startEntry = async ({
  path,
  args = [],
  readyMessage,
  env,
}: EntryOptions): Promise<Entry> => {
  // A run that is interrupted ends the processes of tests, and those must not leave theirs.
  const [program, ...rest] = withDeathSignal('SIGKILL', [process.execPath, codePath(path), ...args])
  const child = spawn(program, rest, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'close').then(([code, signal]) => String(signal ?? code))
  let how: string | undefined
  void ended.then((end) => (how = end))
  const log: string[] = []
  const ready = untilLine(child, log, `"msg":"${readyMessage}"`)
  const early = ended.then((how) => {
    throw new Error(`${path} ended (${how}) before it was ready:\n${log.join('\n')}`)
  })
  early.catch(() => {})
  await Promise.race([ready, early])
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

const untilLine = async (child: ChildProcess, log: string[], mark: string): Promise<void> =>
  await new Promise((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      if (stream)
        createInterface({ input: stream }).on('line', (line) => {
          log.push(line)
          if (line.includes(mark)) resolve()
        })
  })
