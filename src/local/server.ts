import { setTimeout as sleep } from 'node:timers/promises'

import type { Running } from './child.ts'

/** Callback of one start for its process, which it gets at once, before that is ready. */
export type OnSpawn = (running: Running) => void

/** A server process that can be stopped, killed and started again on the same address and data. */
export interface Server {
  /** Id of the process that runs now, or ran last. */
  readonly pid: number
  /** Asks the process to end and waits; nothing when it has ended. */
  stop(): Promise<void>
  /** SIGKILL for all of it, and waits until it is reaped. */
  kill(): Promise<void>
  /** Stops it if it runs, and starts it again. */
  restart(): Promise<void>
}

/** Starts a server whose `launch` resolves when it is ready, and keeps hold of the process it is running as. */
export const startServer = async (launch: (onSpawn: OnSpawn) => Promise<void>): Promise<Server> => {
  let current: Running | undefined
  const start = async (): Promise<void> => {
    try {
      await launch((running) => {
        current = running
      })
    } catch (error) {
      await current?.kill()
      throw error
    }
  }
  await start()
  return {
    get pid() {
      return current?.id.pid ?? 0
    },
    stop: async () => await current?.stop(),
    kill: async () => await current?.kill(),
    restart: async () => {
      await current?.stop()
      await start()
    },
  }
}

interface Wait {
  /** Ends the wait: nobody waits any more. */
  signal: AbortSignal
  limitMs: number
  pauseMs: number
  /** True for an error that waiting does not mend. */
  isFinal?: (error: unknown) => boolean
}

/** Tries until a server responds. Throws what the last attempt threw, as the cause. */
export const untilResponds = async (
  server: string,
  attempt: () => Promise<void>,
  { signal, limitMs, pauseMs, isFinal = () => false }: Wait,
): Promise<void> => {
  const deadline = Date.now() + limitMs
  while (!signal.aborted)
    try {
      return await attempt()
    } catch (error) {
      if (Date.now() > deadline || isFinal(error))
        throw new Error(`${server} does not respond: ${String(error)}`, { cause: error })
      await sleep(pauseMs)
    }
}
