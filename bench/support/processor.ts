import { readFileSync } from 'node:fs'

import { listWorkingIn } from '../../src/local/process-table.ts'
import type { Service } from '../../test/support/service.ts'

/**
 * Returns a function that reads what the processes of a service and its servers have taken so far, in milliseconds of
 * processor. `temporal` is the folder in which Temporal works.
 */
export const watchProcessors = async (service: Service, temporal: string) => {
  const [row] = await service.database.sql<{ cluster: string }[]>`
    select current_setting('data_directory') as cluster
  `
  const pids = {
    api: [service.entry('api').pid],
    core: [service.entry('core').pid],
    media: [service.entry('media').pid],
  }
  return (): Spent => {
    const groups = { ...pids, postgres: pidsIn(row?.cluster ?? ''), temporal: pidsIn(temporal) }
    return Object.fromEntries(
      Object.entries(groups).map(([part, all]) => [part, readProcessors(all)]),
    )
  }
}

/** Resources spent so far, by name. */
export type Spent = Record<string, number>

/** Measures the resources that some work takes. */
export const spentOn = async (
  read: () => Spent | Promise<Spent>,
  work: () => Promise<unknown>,
): Promise<Spent> => {
  const before = await read()
  await work()
  const after = Object.entries(await read())
  return Object.fromEntries(after.map(([what, value]) => [what, value - (before[what] ?? 0)]))
}

/** Those of one server. */
const pidsIn = (folder: string): number[] => listWorkingIn(folder).map(({ pid }) => pid)

export const readProcessors = (pids: readonly number[]): number =>
  pids.map(readTimes).reduce((sum, one) => sum + one, 0)

/** The times of a process and of its children that have ended, each in hundredths of a second (proc(5)). */
const readTimes = (pid: number): number => {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0)
}

/** Bytes that a process has in memory, or the most that it ever had (proc(5)). */
export const readMemory = (pid: number, which: 'VmRSS' | 'VmHWM'): number => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`^${which}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024
}
