import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

import { ROOT } from './root.ts'
import { TEMPORAL_VERSION, type MakeOptions } from './temporal-version.ts'

const FOLDER = join(ROOT, 'tools/temporal')
const SHOW_EVERY_MS = 1000

/**
 * Builds the program from Go modules, for places where only package registries can be reached. Throws when there is no Go
 * that can, or with what Go said.
 */
export const buildTemporal = async (path: string, options: MakeOptions): Promise<void> => {
  const { say, show, signal } = options
  // Fails where there is none.
  await promisify(execFile)('go', ['version'])
  const text = await readFile(join(FOLDER, 'build.json'), 'utf8')
  const { tool, env, cpuSeconds } = JSON.parse(text) as BuildFile
  const minutes = Math.ceil(cpuSeconds / availableParallelism() / 60)
  say(
    `building temporal ${TEMPORAL_VERSION} with Go, once: about ${minutes} min where nothing else runs`,
  )
  const run = { cwd: FOLDER, env: { ...process.env, ...env }, signal }
  let progress: BuildProgress | undefined
  const timer = setInterval(
    () => show(`building temporal: ${progress?.describe(Date.now()) ?? 'fetching its modules'}`),
    SHOW_EVERY_MS,
  )
  try {
    progress = makeBuildProgress(await weighPackages(tool, run))
    await build(['-o', path, tool], run, progress)
  } finally {
    clearInterval(timer)
  }
}

/** tools/warm-temporal.mjs builds with the same, so that Go finds what that has left. */
interface BuildFile {
  tool: string
  /** Its cost on a fast machine. */
  cpuSeconds: number
  /** None of the caller's flags can break the build. */
  env: NodeJS.ProcessEnv
}

interface RunOptions {
  cwd: string
  env: NodeJS.ProcessEnv
  signal: AbortSignal
}

/** Each package that Go is to compile with what that costs. Fetches the modules, too. */
const weighPackages = async (tool: string, options: RunOptions): Promise<[string, number][]> => {
  const format =
    '{{if .Stale}}{{.ImportPath}}\t{{len .Deps}}{{range .GoFiles}}\t{{$.Dir}}/{{.}}{{end}}{{end}}'
  const { stdout } = await promisify(execFile)('go', ['list', '-deps', '-f', format, tool], {
    ...options,
    maxBuffer: 10_000_000,
  })
  const lines = stdout.split('\n').filter(Boolean)
  return await Promise.all(
    lines.map(async (line): Promise<[string, number]> => {
      const [name = '', deps, ...files] = line.split('\t')
      const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size))
      return [name, sizes.reduce((sum, size) => sum + size, DEPENDENCY_WEIGHT * Number(deps))]
    }),
  )
}

/** Reading what another package exports takes as long as compiling so many bytes: with it no share is off by more than 4 %. */
const DEPENDENCY_WEIGHT = 230

export interface BuildProgress {
  /** Go compiles this package now. */
  count(name: string): void
  describe(now: number): string
}

/** Measures how far a build is by the cost of its packages. */
export const makeBuildProgress = (costs: [name: string, cost: number][]): BuildProgress => {
  const costOf = new Map(costs)
  const total = costs.reduce((sum, [, cost]) => sum + cost, 0)
  const start = Date.now()
  let begun = 0
  return {
    count: (name) => {
      begun += costOf.get(name) ?? 0
    },
    describe: (now) => {
      const share = total === 0 ? 1 : begun / total
      const percent = `${Math.floor(100 * share)} %`
      // Until then the rate says nothing.
      if (share < 0.03) return percent
      return `${percent}, about ${describeTime((now - start) * (1 / share - 1))} left`
    },
  }
}

const describeTime = (ms: number): string =>
  ms > 90_000 ? `${Math.round(ms / 60_000)} min` : `${Math.max(10, Math.ceil(ms / 10_000) * 10)} s`

const build = async (
  args: string[],
  options: RunOptions,
  progress: BuildProgress,
): Promise<void> => {
  const flags = `-s -w -X github.com/temporalio/cli/internal/temporalcli.Version=${TEMPORAL_VERSION}`
  // Go ends by itself once nobody reads what it says, so that it does not outlive this process.
  const child = spawn('go', ['build', '-v', `-ldflags=${flags}`, ...args], {
    ...options,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const tail: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => {
    progress.count(line)
    tail.push(line)
    if (tail.length > 15) tail.shift()
  })
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`go build failed:\n${tail.join('\n')}`)
}
