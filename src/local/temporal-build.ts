import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

import { ROOT } from './root.ts'
import { TEMPORAL_VERSION } from './temporal-version.ts'
import type { MakeOptions } from './temporal-version.ts'

const PACKAGE = 'github.com/temporalio/cli/cmd/temporal'
/** Version the modules of the server ask for. */
const LEAST_GO = [1, 26]
const SAY_EVERY_MS = 5000

/**
 * Builds the program from Go modules, for places where only package registries can be reached: 4.5 minutes on two cores
 * and 2 GB of memory at the first time. Throws when there is no Go that can, or with what Go said.
 */
export const buildTemporal = async (path: string, options: MakeOptions): Promise<void> => {
  const { say, signal } = options
  await requireGo()
  say(
    `building temporal ${TEMPORAL_VERSION} with Go, once: some minutes, or faster where Go has built it before`,
  )
  const cwd = join(ROOT, 'tools/temporal')
  // No C compiler is needed, and none of the caller's flags can break the build.
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '', GOWORK: 'off' }
  const total = await countPackages({ cwd, env, signal })
  await build(path, { cwd, env, total, say, signal })
}

const requireGo = async (): Promise<void> => {
  const stdout = await promisify(execFile)('go', ['env', 'GOVERSION']).then(
    (result) => result.stdout.trim(),
    () => undefined,
  )
  const [major = 0, minor = 0] = (stdout ?? '').replace('go', '').split('.').map(Number)
  const [leastMajor = 0, leastMinor = 0] = LEAST_GO
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return
  throw new Error(
    `Go ${LEAST_GO.join('.')} or later is needed, found ${stdout === undefined ? 'none' : stdout}`,
  )
}

/** Fetches the modules, too, which takes as long as the network does. */
const countPackages = async (options: SpawnOptions): Promise<number> => {
  const { stdout } = await promisify(execFile)('go', ['list', '-deps', PACKAGE], {
    ...options,
    maxBuffer: 10_000_000,
  })
  return stdout.trim().split('\n').length
}

interface SpawnOptions {
  cwd: string
  env: NodeJS.ProcessEnv
  signal: AbortSignal
}

interface BuildOptions extends SpawnOptions {
  total: number
  say: (line: string) => void
}

const build = async (path: string, options: BuildOptions): Promise<void> => {
  const { cwd, env, total, say, signal } = options
  const flags = `-s -w -X github.com/temporalio/cli/internal/temporalcli.Version=${TEMPORAL_VERSION}`
  const child = spawn('go', ['build', '-v', `-ldflags=${flags}`, '-o', path, PACKAGE], {
    cwd,
    env,
    signal,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const started = Date.now()
  const lines: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => lines.push(line))
  // Packages that Go still has from another build are not listed, so this is "at most so many".
  const timer = setInterval(() => {
    const seconds = Math.round((Date.now() - started) / 1000)
    say(`building temporal: ${lines.length} of at most ${total} packages, ${seconds} s`)
  }, SAY_EVERY_MS)
  const [code] = (await once(child, 'close')) as [number | null]
  clearInterval(timer)
  if (code !== 0) throw new Error(`go build failed:\n${lines.slice(-15).join('\n')}`)
}
