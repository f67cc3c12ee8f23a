import { randomUUID } from 'node:crypto'
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'

import { findProcess, isRunning, signalProcess, waitUntilGone } from './process-table.ts'
import type { ProcessId } from './process-table.ts'

/** A process of the stack, with the signal that asks it to end. */
export interface StackProcess extends ProcessId {
  name: string
  stopSignal: NodeJS.Signals
}

/** Content of `stack.json`: the stack that runs on this data folder, and its addresses. */
export interface StackState {
  supervisor: ProcessId
  /** Addresses by name, for somebody who starts a second one. */
  addresses: Record<string, string>
  /** Settings of its api, for the commands of an operator; absent while it starts. */
  settings?: NodeJS.ProcessEnv
  processes: StackProcess[]
}

export class StackRunningError extends Error {
  override name = 'StackRunningError'
}

export interface Claim {
  /** Records what runs now; what is not recorded can't be cleaned up by a later start. */
  record(state: Omit<StackState, 'supervisor'>): Promise<void>
  release(): Promise<void>
}

/** Time for what an earlier start left to end by itself; its data survives SIGKILL, too. */
const LEFTOVER_MS = 5000

/**
 * Takes the data folder for this process. Throws a StackRunningError with the addresses of the living stack when another
 * one has it; ends what is left of one that was killed.
 */
export const claimDataFolder = async (
  dataDir: string,
  say: (line: string) => void,
): Promise<Claim> => {
  await mkdir(dataDir, { recursive: true })
  const supervisor = findSelf()
  const { record, release } = await claimFile<StackState>(
    join(dataDir, 'stack.json'),
    { supervisor, addresses: {}, processes: [] },
    async (state) => {
      rejectBesideLiving(state, dataDir)
      await endLeftovers(state, say)
    },
  )
  return { record: async (state) => await record({ supervisor, ...state }), release }
}

export const findSelf = (): ProcessId =>
  findProcess(process.pid) ?? { pid: process.pid, startedAt: 'unknown' }

/**
 * Creates the file `path`, which one process has at a time. `passOwner` is given the state of another one that has it, and
 * throws, or resolves once that one has ended.
 */
export const claimFile = async <State>(
  path: string,
  state: State,
  passOwner: (owner: State) => Promise<void>,
): Promise<{ record(state: State): Promise<void>; release(): Promise<void> }> => {
  let last = Promise.resolve()
  let isReleased = false
  for (;;) {
    try {
      await writeState(path, state, linkNew)
      return {
        record: async (next) => {
          if (isReleased) return
          // One after the other: the record of a later change must not be overtaken by an earlier one.
          last = last.then(async () => await writeState(path, next, rename))
          await last
        },
        release: async () => {
          isReleased = true
          await last.catch(() => {}).then(async () => await rm(path, { force: true }))
        },
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const owner = await readState<State>(path)
    if (owner !== undefined) await passOwner(owner)
    await takeAway(path, owner)
  }
}

/** Removes the state of an owner that has ended. Another process may have done so meanwhile: its state is put back. */
const takeAway = async (path: string, ended: unknown): Promise<void> => {
  if (!isDeepStrictEqual(await readState(path), ended)) return
  const aside = `${path}.${randomUUID()}`
  await rename(path, aside).catch(() => {})
  if (!isDeepStrictEqual(await readState(aside), ended)) await link(aside, path).catch(() => {})
  await rm(aside, { force: true })
}

type Put = (from: string, to: string) => Promise<void>

/** Whole under its name at once, so that nobody reads half of it. */
const writeState = async (path: string, state: unknown, put: Put): Promise<void> => {
  const part = `${path}.${randomUUID()}`
  await writeFile(part, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 })
  await put(part, path).finally(async () => await rm(part, { force: true }))
}

/** Fails with EEXIST where `rename` would replace: of two starts at once one gets the folder. */
const linkNew: Put = async (from, to) => await link(from, to)

export const readState = async <State>(path: string): Promise<State | undefined> => {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as State
  } catch {
    return undefined
  }
}

const rejectBesideLiving = ({ supervisor, addresses }: StackState, dataDir: string): void => {
  if (!isRunning(supervisor)) return
  const shown = Object.entries(addresses).map(
    ([name, address]) => `  ${name.padEnd(12)} ${address}`,
  )
  throw new StackRunningError(
    [
      `a stack runs on ${dataDir} already (pid ${supervisor.pid})${shown.length === 0 ? ', just starting' : ':'}`,
      ...shown,
      'Use that one, or stop it with Ctrl-C in its terminal.',
    ].join('\n'),
  )
}

const endLeftovers = async (
  { processes }: StackState,
  say: (line: string) => void,
): Promise<void> => {
  // In the order they are stopped: the users of a server before the server.
  for (const left of processes.toReversed()) {
    if (!isRunning(left)) continue
    say(`ending ${left.name} (pid ${left.pid}), which an earlier start left`)
    signalProcess(left.pid, left.stopSignal)
    if (await waitUntilGone([left], LEFTOVER_MS)) continue
    signalProcess(-left.pid, 'SIGKILL')
    await waitUntilGone([left], LEFTOVER_MS)
  }
}
