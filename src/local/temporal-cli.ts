import { execFile } from 'node:child_process'
import { chmod, readdir, rename, rm } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'

import envPaths from 'env-paths'

import { isExecutable } from '../../packages/engines/src/binaries.ts'
import { buildTemporal } from './temporal-build.ts'
import { downloadTemporal } from './temporal-download.ts'
import { makeInTurn } from './temporal-turn.ts'
import { TEMPORAL_VERSION, type MakeOptions, type MakeTemporal } from './temporal-version.ts'

/** Fairness keys and the flags of the embedded server came with this one. */
const LEAST_VERSION = [1, 8]

export interface TemporalCli {
  path: string
  version: string
  /** Version of the server inside; database files are of one of these. */
  serverVersion: string
}

export interface FindTemporalOptions {
  /** TEMPORAL_CLI_PATH and PATH are read from it. */
  env: NodeJS.ProcessEnv
  say: (line: string) => void
  /** Ends a download or a build. */
  signal?: AbortSignal
  /** Tests give others. */
  cacheDir?: string
  makers?: { what: string; make: MakeTemporal }[]
}

const MAKERS = [
  { what: 'download', make: downloadTemporal },
  { what: 'build', make: buildTemporal },
]

/**
 * Finds a `temporal` command line program: TEMPORAL_CLI_PATH, PATH, the user's cache, else downloads or builds one into
 * that cache, or waits for another process that does. Throws one error that lists what was tried and what to do.
 */
export const findTemporalCli = async (options: FindTemporalOptions): Promise<TemporalCli> => {
  const { env, say, cacheDir = envPaths('kiln', { suffix: '' }).cache } = options
  const { signal = new AbortController().signal } = options
  const given = env['TEMPORAL_CLI_PATH']
  if (given) return await probeGiven(given)
  const cached = join(cacheDir, `temporal-${TEMPORAL_VERSION}`, 'temporal')
  const findCached = async () => await probe(cached).catch(() => undefined)
  const make = async (making: MakeOptions) =>
    (await findCached()) ?? (await makeOne(cached, options.makers ?? MAKERS, making))
  return (
    (await findOnPath(env, say)) ??
    (await findCached()) ??
    (await makeInTurn(dirname(cached), { say, signal }, make))
  )
}

/** Runs `temporal --version`, which prints `temporal version 1.8.2 (Server 1.31.2, UI 2.50.1)`. Throws when it is something else. */
const probe = async (path: string): Promise<TemporalCli> => {
  const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: 30_000 })
  const found = /version v?(\d+\.\d+\.\d+\S*) \(Server v?([^,)\s]+)/.exec(stdout)
  const [, version, serverVersion] = found ?? []
  if (version === undefined || serverVersion === undefined)
    throw new Error(`${path} --version printed ${JSON.stringify(stdout.slice(0, 80))}`)
  return { path, version, serverVersion }
}

const probeGiven = async (path: string): Promise<TemporalCli> => {
  const advice = `set TEMPORAL_CLI_PATH to a temporal ${LEAST_VERSION.join('.')} or later, or unset it`
  const cli = await probe(path).catch((error: unknown) => {
    throw new Error(`TEMPORAL_CLI_PATH=${path} is not usable: ${messageOf(error)}; ${advice}`, {
      cause: error,
    })
  })
  if (!isRecent(cli.version))
    throw new Error(`TEMPORAL_CLI_PATH=${path} is version ${cli.version}; ${advice}`)
  return cli
}

const findOnPath = async (
  env: NodeJS.ProcessEnv,
  say: (line: string) => void,
): Promise<TemporalCli | undefined> => {
  for (const folder of (env['PATH'] ?? '').split(delimiter).filter((part) => part !== '')) {
    const path = join(folder, 'temporal')
    if (!(await isExecutable(path))) continue
    const cli = await probe(path).catch(() => undefined)
    if (cli !== undefined && isRecent(cli.version)) return cli
    say(
      `${path} is not used: ${cli ? `version ${cli.version} is older than ${LEAST_VERSION.join('.')}` : 'it does not report its version'}`,
    )
  }
  return undefined
}

const isRecent = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10))
  const [leastMajor = 0, leastMinor = 0] = LEAST_VERSION
  return major > leastMajor || (major === leastMajor && minor >= leastMinor)
}

const makeOne = async (
  path: string,
  makers: { what: string; make: MakeTemporal }[],
  options: MakeOptions,
): Promise<TemporalCli> => {
  // What makers left that were killed: nobody else makes one now.
  for (const name of await readdir(dirname(path)))
    if (name.startsWith('temporal.')) await rm(join(dirname(path), name), { recursive: true })
  const failures: string[] = []
  for (const { what, make } of makers) {
    try {
      return await makeVerified(path, make, options)
    } catch (error) {
      options.signal.throwIfAborted()
      failures.push(`${what}: ${messageOf(error)}`)
      options.say(`no ${what} of temporal: ${messageOf(error)}`)
    }
  }
  throw new Error(
    [
      'no Temporal server can be started:',
      ...failures.map((failure) => `  - ${failure}`),
      `Install the temporal command line program ${LEAST_VERSION.join('.')} or later and put it on the PATH (or name it in TEMPORAL_CLI_PATH), or install Go 1.26 so that it can be built, or set TEMPORAL_ADDRESS to a server that runs already.`,
    ].join('\n'),
  )
}

/**
 * Makes it under a temporary name until it has reported its version, so that a stopped start leaves nothing half made.
 */
const makeVerified = async (
  path: string,
  make: MakeTemporal,
  options: MakeOptions,
): Promise<TemporalCli> => {
  const part = `${path}.${process.pid}`
  try {
    await make(part, options)
    await chmod(part, 0o755)
    await probe(part)
    await rename(part, path)
    return await probe(path)
  } finally {
    await rm(part, { force: true, recursive: true })
  }
}

const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).trim()
