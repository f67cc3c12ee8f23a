import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

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
