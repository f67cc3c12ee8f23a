import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chown, mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { identityOf } from './postgres-user.ts'
import type { PostgresPlace } from './postgres-place.ts'
import {
  findCommand,
  findProcess,
  listChildren,
  listWorkingIn,
  signalProcess,
  waitUntilGone,
} from './process-table.ts'
import type { ProcessId } from './process-table.ts'

/** Role that owns everything in the embedded cluster. */
export const POSTGRES_ROLE = 'kiln'

/** Time for the fast shutdown of a server an earlier start left. */
const LEFTOVER_MS = 10_000

/**
 * Makes the cluster unless it is there, and returns the password of its role, which lies in `<dataDir>/password`
 * (mode 0600). A start that was killed in the middle leaves only a folder that the next one replaces.
 */
export const prepareCluster = async (place: PostgresPlace, dataDir: string): Promise<string> => {
  const password = await keepPassword(join(dataDir, 'password'))
  const found = await readFile(join(place.cluster, 'PG_VERSION'), 'utf8').catch(() => undefined)
  if (found === undefined) await initialise(place, password)
  else if (found.trim() !== place.version.split('.')[0])
    throw new Error(
      `the data in ${place.cluster} is of PostgreSQL ${found.trim()} and the packaged server is ${place.version}: move its folder ${dataDir} away to start empty, or serve it yourself and set DATABASE_URL`,
    )
  return password
}

/**
 * Ends what an earlier start left running on this cluster and removes its lock file. PostgreSQL itself would reject to
 * start when the pid in the lock file is a zombie nobody reaps, or some other process by now.
 */
export const endLeftover = async (cluster: string, say: (line: string) => void): Promise<void> => {
  const lock = join(cluster, 'postmaster.pid')
  const text = await readFile(lock, 'utf8').catch(() => undefined)
  if (text === undefined) return
  const folder = await realpath(cluster)
  const postmaster = findPostmaster(Number(text.split('\n')[0]), folder)
  if (postmaster !== undefined) {
    say(`ending the PostgreSQL server (pid ${postmaster.pid}) that an earlier start left`)
    signalProcess(postmaster.pid, 'SIGINT')
    if (!(await waitUntilGone([postmaster], LEFTOVER_MS))) await killServer(postmaster)
  }
  // Backends outlive a killed postmaster for a moment; a new server must not meet them.
  const orphans = listWorkingIn(folder)
  for (const { pid } of orphans) signalProcess(pid, 'SIGKILL')
  await waitUntilGone(orphans, LEFTOVER_MS)
  await rm(lock, { force: true })
}

/** SIGKILL for the whole server: its backends are in sessions of their own, so a signal to the group would miss them. */
export const killServer = async (postmaster: ProcessId): Promise<void> => {
  const all = [postmaster, ...listChildren(postmaster.pid)]
  for (const { pid } of all) signalProcess(pid, 'SIGKILL')
  await waitUntilGone(all, LEFTOVER_MS)
}

const findPostmaster = (pid: number, folder: string): ProcessId | undefined => {
  const found = findProcess(pid)
  if (found === undefined) return undefined
  const ours =
    process.platform === 'linux'
      ? listWorkingIn(folder).some((other) => other.pid === pid)
      : findCommand(pid)?.includes(folder)
  return ours === true ? found : undefined
}

const keepPassword = async (path: string): Promise<string> => {
  const made = randomBytes(24).toString('base64url')
  await writeFile(path, made, { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  return (await readFile(path, 'utf8')).trim()
}

const initialise = async (place: PostgresPlace, password: string): Promise<void> => {
  const { cluster, user } = place
  const part = `${cluster}.new`
  const passwordFile = `${cluster}.password`
  await rm(part, { recursive: true, force: true })
  await mkdir(part, { recursive: true, mode: 0o700 })
  await writeFile(passwordFile, password, { mode: 0o600 })
  if (user !== undefined)
    for (const path of [part, passwordFile]) await chown(path, user.uid, user.gid)
  try {
    await runInitdb(place, part, passwordFile)
    await rename(part, cluster)
  } finally {
    await rm(passwordFile, { force: true })
  }
}

const runInitdb = async (
  place: PostgresPlace,
  folder: string,
  passwordFile: string,
): Promise<void> => {
  // The built-in provider sorts by code point and knows the cases of all letters, on every machine alike.
  const args = [
    `--pgdata=${folder}`,
    `--username=${POSTGRES_ROLE}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    // Iterations guard passwords that can be guessed. Each new connection pays them: 4,096 are 15 ms of the processor.
    '--set=scram_iterations=1',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
  ]
  const initdb = spawn(join(place.programs, 'bin/initdb'), args, {
    ...identityOf(place.user),
    cwd: dirname(folder),
    env: postgresEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output: Buffer[] = []
  for (const stream of [initdb.stdout, initdb.stderr])
    stream.on('data', (chunk: Buffer) => output.push(chunk))
  const [code] = (await once(initdb, 'close')) as [number | null]
  if (code !== 0)
    throw new Error(
      `PostgreSQL could not make its data folder ${folder}:\n${Buffer.concat(output).toString()}\nIf it misses libraries, run \`node tools/install.mjs\`; or set DATABASE_URL to a PostgreSQL 16 or later that runs already`,
    )
}

/** Returns the environment of the server's programs: no PG* variable and no locale of the caller. */
export const postgresEnvironment = (): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  LC_ALL: 'C',
  TZ: 'UTC',
})
