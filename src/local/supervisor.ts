import { setTimeout as sleep } from 'node:timers/promises'

import { describeExit, type Running } from './child.ts'
import type { OnSpawn } from './server.ts'

/** A process that is kept running. */
export interface Service {
  name: string
  /** Starts it; resolves when it is ready, throws when it will not be. */
  launch: (onSpawn: OnSpawn) => Promise<void>
}

export interface SupervisorOptions {
  say: (line: string) => void
  /** Called with everything that runs, after each change. */
  changed: (running: { name: string; running: Running }[]) => void | Promise<void>
}

export interface Supervisor {
  /** Starts a service, waits until it is ready, and from then on starts it again whenever it ends. */
  run(service: Service): Promise<void>
  /** Stops one group of services after the other, the services of a group together. Nothing can be started any more. */
  stop(order: string[][]): Promise<void>
  /** SIGKILL for everything, in any order; a stop that waits goes on at once. */
  kill(): Promise<void>
}

/** Waits before a restart: doubled from the first to the last, and from the first again once a process has lived for the last one. */
const FIRST_WAIT_MS = 1000
const LAST_WAIT_MS = 30_000

interface Watched {
  service: Service
  current: Running | undefined
  stopping: AbortController
  /** Ends when the service has stopped for good. */
  watch: Promise<void>
}

/** Keeps the processes of the stack running; a crash of one is said and healed, not passed on to the others. */
export const makeSupervisor = ({ say, changed }: SupervisorOptions): Supervisor => {
  const watched = new Map<string, Watched>()
  let sealed = false
  const report = async (): Promise<void> => {
    const running = [...watched].flatMap(([name, { current }]) =>
      current === undefined ? [] : [{ name, running: current }],
    )
    await changed(running)
  }
  const start = async (entry: Watched): Promise<void> => {
    await entry.service.launch((running) => {
      entry.current = running
      void report()
      // A stop that came before there was a process to stop.
      if (entry.stopping.signal.aborted) void running.kill()
    })
  }
  return {
    run: async (service) => {
      if (sealed) throw new Error(`${service.name} is not started: everything is being stopped`)
      const entry: Watched = {
        service,
        current: undefined,
        stopping: new AbortController(),
        watch: Promise.resolve(),
      }
      watched.set(service.name, entry)
      await start(entry)
      entry.watch = keepRunning(entry, start, say)
    },
    stop: async (order) => {
      sealed = true
      for (const { stopping } of watched.values()) stopping.abort()
      for (const names of order) {
        await Promise.all(names.map(async (name) => await end(watched.get(name))))
        for (const name of names) watched.delete(name)
        await report()
      }
    },
    kill: async () => {
      await Promise.all([...watched.values()].map(async ({ current }) => await current?.kill()))
    },
  }
}

const end = async (entry: Watched | undefined): Promise<void> => {
  await entry?.current?.stop()
  await entry?.watch
}

const keepRunning = async (
  entry: Watched,
  start: (entry: Watched) => Promise<void>,
  say: (line: string) => void,
): Promise<void> => {
  const { signal } = entry.stopping
  let wait = FIRST_WAIT_MS
  for (;;) {
    const startedAt = Date.now()
    const exit = await entry.current?.exited
    if (signal.aborted) return
    if (Date.now() - startedAt > LAST_WAIT_MS) wait = FIRST_WAIT_MS
    const ended = exit === undefined ? 'is not running' : describeExit(exit)
    say(`${entry.service.name} ${ended}; starting it again in ${wait / 1000} s`)
    await sleep(wait, undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    wait = Math.min(wait * 2, LAST_WAIT_MS)
    await restart(entry, start, say)
    // A stop that came while it was starting has not seen the new process.
    if (signal.aborted) return await entry.current?.stop()
  }
}

const restart = async (
  entry: Watched,
  start: (entry: Watched) => Promise<void>,
  say: (line: string) => void,
): Promise<void> => {
  try {
    await start(entry)
    say(`${entry.service.name} is ready again as process ${entry.current?.id.pid}`)
  } catch (error) {
    if (!entry.stopping.signal.aborted) say(error instanceof Error ? error.message : String(error))
    await entry.current?.kill()
  }
}
