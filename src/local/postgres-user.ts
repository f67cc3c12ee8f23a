import { spawnSync } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { userInfo } from 'node:os'

/** The user a server runs as when this process is root: PostgreSQL refuses to run as root. */
export interface ServerUser {
  name: string
  uid: number
  gid: number
}

/**
 * Picks the user for the database server: undefined, that is this user, unless this process is root. Then the owner of
 * `owned` (the cluster of an earlier start, or the checkout) if that is somebody else, or a system user that is on every
 * machine. Users are not made. Throws, naming what to do, when none can be used.
 */
export const findServerUser = (owned: string[]): ServerUser | undefined => {
  if (process.getuid?.() !== 0) return requireName()
  const owners = owned.map(findOwner).filter((uid) => uid !== undefined && uid !== 0)
  for (const candidate of [...owners.map(String), 'postgres', 'nobody']) {
    const user = findUser(candidate)
    if (user !== undefined && user.uid !== 0 && runAs(user, 'true', [])) return user
  }
  throw new Error(
    'PostgreSQL does not run as root, and no other user can be taken here (tried postgres and nobody): start as another user, or set DATABASE_URL to a PostgreSQL 16 or later that runs already',
  )
}

/** True when `user` (undefined: this one) may read a file, or enter a folder. */
export const canReach = (user: ServerUser | undefined, path: string): boolean => {
  if (user !== undefined) return runAs(user, 'test', [isFolder(path) ? '-x' : '-r', path])
  try {
    accessSync(path, isFolder(path) ? constants.X_OK : constants.R_OK)
    return true
  } catch {
    return false
  }
}

/** Returns the options of `spawn` to run as `user`. */
export const identityOf = (user: ServerUser | undefined): { uid?: number; gid?: number } =>
  user === undefined ? {} : { uid: user.uid, gid: user.gid }

const runAs = (user: ServerUser, command: string, args: string[]): boolean =>
  spawnSync(command, args, { ...identityOf(user), cwd: '/', stdio: 'ignore' }).status === 0

/** initdb looks its user up by name and fails without one, which containers run with a bare uid run into. */
const requireName = (): undefined => {
  try {
    userInfo()
    return undefined
  } catch (error) {
    throw new Error(
      `PostgreSQL needs a user with a name, and uid ${process.getuid?.()} has none here: add it to /etc/passwd, or set DATABASE_URL to a PostgreSQL 16 or later that runs already`,
      { cause: error },
    )
  }
}

const findUser = (name: string): ServerUser | undefined => {
  const [shown, uid, gid] = ['-un', '-u', '-g'].map((flag) => {
    const { status, stdout } = spawnSync('id', [flag, name], { encoding: 'utf8' })
    return status === 0 ? stdout.trim() : undefined
  })
  return shown === undefined || uid === undefined || gid === undefined
    ? undefined
    : { name: shown, uid: Number(uid), gid: Number(gid) }
}

const findOwner = (path: string): number | undefined =>
  statSync(path, { throwIfNoEntry: false })?.uid

const isFolder = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
