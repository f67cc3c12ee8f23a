import { existsSync, readFileSync } from 'node:fs'

const STAT = '/proc/self/stat'
/** Linux counts times of processes in ticks of a hundredth of a second. */
const TICKS = 100

/** Processor seconds of this process and of the children it has waited for; the children count on Linux only. */
export const cpuSeconds = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6 + childSeconds()
}

const childSeconds = (): number => {
  if (!existsSync(STAT)) return 0
  // The name of the program, in brackets, may contain spaces; `cutime` and `cstime` are the 14th and 15th field after it.
  const fields = readFileSync(STAT, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  return (Number(fields[13]) + Number(fields[14])) / TICKS
}
