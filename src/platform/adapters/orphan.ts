import { execFile } from 'node:child_process'
import { lstat, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** A child's process group and the process that started it, each with its start time. */
interface ChildRecord {
  group: number
  groupStart: string
  owner: number
  ownerStart: string
}

const SUFFIX = '.child.json'

/** Writes down that a process group is ours, in the folder it works in; returns the path of the record. */
export const recordChild = async (dir: string, group: number): Promise<string | undefined> => {
  const [groupStart, ownerStart] = await Promise.all([
    findProcessStart(group),
    findProcessStart(process.pid),
  ])
  if (groupStart === undefined || ownerStart === undefined) return undefined
  const record: ChildRecord = { group, groupStart, owner: process.pid, ownerStart }
  const path = join(dir, `${group}${SUFFIX}`)
  await writeFile(path, JSON.stringify(record))
  return path
}

/**
 * Kills the process groups that a dead worker left, by the records in a folder and all under it, and removes these
 * records. A group is killed only when its start time is the recorded one and the process that started it is gone.
 * Returns how many were killed.
 */
export const cleanUpOrphans = async (dir: string): Promise<number> => {
  const names = await readdir(dir, { recursive: true }).catch(() => [])
  let killed = 0
  for (const name of names.filter((name) => name.endsWith(SUFFIX))) {
    const path = join(dir, name)
    if (!(await isOurs(path))) continue
    const record = await readRecord(path)
    if (record && (await isRunning(record.owner, record.ownerStart))) continue
    // The process may run on another machine with the same store, whose worker still needs the record.
    if (record && (await findProcessStart(record.group)) === undefined) continue
    if (record && (await isRunning(record.group, record.groupStart))) killed += kill(record.group)
    await rm(path, { force: true })
  }
  return killed
}

/** A child of another user writes into its folder what it likes: this process would kill for it, or wait for a pipe. */
const isOurs = async (path: string): Promise<boolean> => {
  const stats = await lstat(path).catch(() => undefined)
  return stats?.isFile() === true && stats.uid === (process.getuid?.() ?? stats.uid)
}

const readRecord = async (path: string): Promise<ChildRecord | undefined> => {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as ChildRecord
  } catch {
    // The owner has removed it meanwhile, or a kill has cut it: it says nothing.
    return undefined
  }
}

const isRunning = async (pid: number, start: string): Promise<boolean> =>
  (await findProcessStart(pid)) === start

const kill = (group: number): number => {
  try {
    process.kill(-group, 'SIGKILL')
    return 1
  } catch {
    return 0
  }
}

/**
 * Finds when a process began, in a form that is only good for comparison: it differs once the system has given the
 * number to another process. Undefined when no process has this number.
 */
export const findProcessStart = (pid: number): Promise<string | undefined> =>
  process.platform === 'linux' ? readStat(pid) : askPs(pid)

/** Field 22 of `/proc/<pid>/stat`, in clock ticks since the machine started. */
const readStat = async (pid: number): Promise<string | undefined> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  // The name of the program stands in brackets and may hold anything.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  // Dead, but not yet collected by its parent.
  if (fields?.[0] === 'Z' || fields?.[0] === 'X') return undefined
  return fields?.[19]
}

const askPs = async (pid: number): Promise<string | undefined> => {
  try {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)])
    return stdout.trim() || undefined
  } catch {
    return undefined
  }
}
