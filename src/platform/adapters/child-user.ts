import { execFile } from 'node:child_process'
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** The user that a child process runs as, as `spawn` takes it. */
export interface ChildUser {
  uid: number
  gid: number
}

/** `nobody` of nearly every system; it need not have a name. */
const NOBODY: ChildUser = { uid: 65_534, gid: 65_534 }

/** Paths that a child process must be able to reach. */
interface Needed {
  programs: readonly string[]
  /** Files that it reads. */
  files?: readonly string[]
}

/**
 * Reads what is given, writes beside it, and reaches what is needed: programs, `--`, files. All by whole paths: a folder
 * above may be closed to others, and the working folder is entered before the user changes.
 */
const PROBE =
  ': < "$0/in" > "$0/out" && test=-x && for path; do if [ "$path" = -- ]; then test=-r; else [ $test "$path" ] || exit 1; fi; done'

/**
 * The user of processes that read hostile files: `nobody`, where this process is root and nobody may work in a folder
 * below `dir` and reach what is needed. Then they cannot read this process's memory and environment, nor change the store.
 * Undefined where there is no other user: they run as this one.
 */
export const findChildUser = async (
  dir: string,
  { programs, files = [] }: Needed,
): Promise<ChildUser | undefined> => {
  if (process.getuid?.() !== 0) return undefined
  // Children pass through it to their own folder, and cannot list it.
  await chmod(dir, 0o711)
  const folder = await mkdtemp(join(dir, 'probe-'))
  try {
    await writeFile(join(folder, 'in'), '')
    await giveFolder(folder, NOBODY)
    const options = { ...NOBODY, cwd: '/', env: {}, timeout: 10_000 }
    await promisify(execFile)(
      '/bin/sh',
      ['-c', PROBE, folder, ...programs, '--', ...files],
      options,
    )
    return NOBODY
  } catch {
    return undefined
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Lets children of another user write into a folder. */
export const giveFolder = async (dir: string, user: ChildUser | undefined): Promise<void> => {
  if (user) await chown(dir, user.uid, user.gid)
}
