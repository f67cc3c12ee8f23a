import { readFile, readdir, readlink } from 'node:fs/promises'

import { waitFor } from '../support/wait.ts'
import { listEngineProcesses } from './engine-processes.ts'

/** The numbers of `/proc/<pid>/stat` after the name (proc_pid_stat(5)). */
const readStat = async (pid: number): Promise<number[]> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  return stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
}

export const readParent = async (pid: number): Promise<number> => (await readStat(pid))[1] ?? 0

/** Processor time of a process in ticks of 10 ms. */
const readTicks = async (pid: number): Promise<number> => {
  const stat = await readStat(pid)
  return (stat[11] ?? 0) + (stat[12] ?? 0)
}

/** Processes that have an archive of the store open, each with the time it has computed. */
const listReaders = async (storagePath: string): Promise<[pid: number, ticks: number][]> => {
  const readers: [number, number][] = []
  for (const pid of await listEngineProcesses(storagePath)) {
    const open = await readdir(`/proc/${pid}/fd`).catch(() => [])
    const paths = await Promise.all(
      open.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')),
    )
    const ticks = await readTicks(pid).catch(() => undefined)
    if (ticks !== undefined && paths.some((path) => path.startsWith(storagePath)))
      readers.push([pid, ticks])
  }
  return readers
}

/** Ticks after which a reader of a small archive is at its host nodes for sure. */
const WELL_BEGUN = 40

/** Waits for a child that is in the middle of reading an archive. Linux only. */
export const untilReading = async (storagePath: string): Promise<number> => {
  const seen = new Map<number, number>()
  return await waitFor('a child reads an archive', async () => {
    for (const [pid, ticks] of await listReaders(storagePath)) {
      const first = seen.get(pid) ?? ticks
      seen.set(pid, first)
      if (ticks - first >= WELL_BEGUN) return pid
    }
    return undefined
  })
}
