import { readFileSync } from 'node:fs'

import { listWorkingIn } from '../../src/local/process-table.ts'

/** Processes whose working directory is a folder: those of one server. */
export const pidsIn = (folder: string): number[] => listWorkingIn(folder).map(({ pid }) => pid)

/** Milliseconds of processor that groups of processes have taken so far. */
export const readProcessor = (groups: Record<string, readonly number[]>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(groups).map(([name, pids]) => [
      name,
      pids.map(readTimes).reduce((sum, one) => sum + one, 0),
    ]),
  )

/** The times of a process and of its children that have ended, each in hundredths of a second (proc(5)). */
const readTimes = (pid: number): number => {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0)
}
