import { execFileSync } from 'node:child_process'
import { readFileSync, readdirSync, readlinkSync } from 'node:fs'

/** A process that no later one can be mistaken for: pids are used again, a pid with its start time is not. */
export interface ProcessId {
  pid: number
  startedAt: string
}

/** The process `pid`, or undefined when there is none or only a zombie that nobody has reaped. */
export const findProcess = (pid: number): ProcessId | undefined => {
  const startedAt = hasProc() ? readProcStart(pid) : readPsStart(pid)
  return startedAt === undefined ? undefined : { pid, startedAt }
}

export const isRunning = ({ pid, startedAt }: ProcessId): boolean =>
  findProcess(pid)?.startedAt === startedAt

/** Finds the parent of a process; undefined where there is no /proc, which alone shows it cheaply. */
export const findParent = (pid: number): ProcessId | undefined => {
  const parent = hasProc() ? readProcParent(pid) : undefined
  return parent === undefined ? undefined : findProcess(parent)
}

/** Lists the direct children of a process. Empty where neither /proc nor `ps` shows them. */
export const listChildren = (pid: number): ProcessId[] => {
  const pids = hasProc()
    ? listProcPids().filter((child) => readProcParent(child) === pid)
    : listPsChildren(pid)
  return pids.map(findProcess).filter((child) => child !== undefined)
}

/** Processes whose working directory is `folder` (a real path). Empty where there is no /proc. */
export const listWorkingIn = (folder: string): ProcessId[] =>
  hasProc()
    ? listProcPids()
        .filter((pid) => attempt(() => readlinkSync(`/proc/${pid}/cwd`)) === folder)
        .map(findProcess)
        .filter((found) => found !== undefined)
    : []

/** The command line of a process, or undefined when it is gone or may not be read. */
export const findCommand = (pid: number): string | undefined =>
  hasProc()
    ? attempt(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' '))
    : readPs(pid, 'command=')

/** Sends a signal to a process, or with a negative pid to a group; one that is gone is no error. */
export const signalProcess = (pid: number, signal: NodeJS.Signals): void => {
  attempt(() => process.kill(pid, signal))
}

/** Waits until none of the processes runs any more; false when some still do after `ms`. */
export const waitUntilGone = async (ids: ProcessId[], ms: number): Promise<boolean> => {
  const deadline = Date.now() + ms
  while (ids.some(isRunning)) {
    if (Date.now() > deadline) return false
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return true
}

const attempt = <T>(read: () => T): T | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

const hasProc = (): boolean => process.platform === 'linux'

/** `/proc/<pid>/stat` after the name, which may itself hold spaces and parentheses: state is field 0 here. */
const readProcStat = (pid: number): string[] | undefined => {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
}

const readProcStart = (pid: number): string | undefined => {
  const stat = readProcStat(pid)
  if (stat === undefined || stat[0] === 'Z' || stat[0] === 'X') return undefined
  // Start times count from boot, so only together with the boot do they name one moment.
  const boot = attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()) ?? ''
  return `${boot}/${stat[19]}`
}

const readProcParent = (pid: number): number | undefined => {
  const parent = readProcStat(pid)?.[1]
  return parent === undefined ? undefined : Number(parent)
}

const listProcPids = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)

const readPsStart = (pid: number): string | undefined => {
  const found = readPs(pid, 'stat=,lstart=')
  return found === undefined || found.startsWith('Z') ? undefined : found.replace(/^\S+\s+/, '')
}

const readPs = (pid: number, columns: string): string | undefined =>
  attempt(() => runPs(['-o', columns, '-p', String(pid)]).trim() || undefined)

const listPsChildren = (parent: number): number[] =>
  (attempt(() => runPs(['-A', '-o', 'pid=,ppid='])) ?? '')
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .filter(([, ppid]) => ppid === parent)
    .map(([pid]) => pid ?? 0)

const runPs = (args: string[]): string =>
  execFileSync('ps', args, {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
