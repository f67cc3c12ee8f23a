import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

import envPaths from 'env-paths'

import { ROOT } from '../src/local/root.ts'

const CACHE = envPaths('kiln', { suffix: '' }).cache

/** Oldest version that the pinned packages run on. */
const LEAST_PYTHON = [3, 11] as const
const PYTHONS = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11', 'python']

/** Reports what is not run, and why. */
export class Skipped extends Error {
  override name = 'Skipped'
}

/** Makes a virtual environment with the packages of a file, once for each state of that file; returns its folder of programs. */
export const installPython = async (name: string, requirements: string): Promise<string> => {
  const folder = folderOf(name, requirements)
  const bin = binOf(folder)
  await makeOnce(folder, async () => {
    await makeEnvironment(folder)
    await install(join(bin, 'python'), ['-m', 'pip', 'install', '-q', '-r', requirements])
  })
  return bin
}

/** Makes an empty virtual environment; returns its folder of programs. */
export const makeEnvironment = async (folder: string): Promise<string> => {
  await install(findPython(), ['-m', 'venv', folder])
  return binOf(folder)
}

/** A Python of this version or later by its name. Throws Skipped where there is none. */
export const findPython = (least: readonly [number, number] = LEAST_PYTHON): string => {
  const python = PYTHONS.find((name) => isRecent(name, least))
  if (python === undefined)
    throw new Skipped(
      `Python ${least.join('.')} or later is not there: install it, or put it on PATH`,
    )
  return python
}

const binOf = (folder: string): string =>
  join(folder, process.platform === 'win32' ? 'Scripts' : 'bin')

const isRecent = (python: string, least: readonly [number, number]): boolean => {
  const { status } = spawnSync(python, [
    '-c',
    `import sys, venv, ensurepip; sys.exit(sys.version_info < (${least.join(', ')}))`,
  ])
  return status === 0
}

/** Path in the cache for what is made of these files. */
export const folderOf = (name: string, ...pins: string[]): string => {
  const hash = createHash('sha256')
  for (const path of pins) hash.update(readFileSync(path))
  return join(CACHE, `${name}-${hash.digest('hex').slice(0, 12)}`)
}

/** Makes an installation that is not there, or that was cut short. */
export const makeOnce = async (folder: string, make: () => Promise<void>): Promise<void> => {
  const stamp = join(folder, '.complete')
  if (existsSync(stamp)) return
  rmSync(folder, { recursive: true, force: true })
  process.stdout.write(`installing into ${folder}\n`)
  await make()
  writeFileSync(stamp, '')
}

/** Runs a program that needs the package registry. Throws Skipped when it fails. */
export const install = async (
  command: string,
  args: readonly string[],
  cwd = ROOT,
): Promise<void> => {
  if (!(await run(command, args, { cwd })))
    throw new Skipped(
      `${command} ${args.join(' ')} failed: see above; it needs the package registry`,
    )
}

export interface RunOptions {
  cwd: string
  env?: NodeJS.ProcessEnv
  /** A folder whose programs come first. */
  bin?: string
}

/** Runs a program that prints where this one does; returns true when it succeeded. */
export const run = async (
  command: string,
  args: readonly string[],
  { cwd, env, bin }: RunOptions,
): Promise<boolean> => {
  const path = [bin, process.env['PATH']].filter(Boolean).join(delimiter)
  const child = spawn(command, args, {
    cwd,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, PATH: path, NO_COLOR: '1', ...env },
    shell: process.platform === 'win32',
  })
  const [code] = (await once(child, 'close').catch(() => [1])) as [number | null]
  return code === 0
}
