import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, delimiter, join } from 'node:path'

import envPaths from 'env-paths'

import { ROOT } from '../../src/local/root.ts'

export const HERE = join(ROOT, 'test/contract')
const CACHE = envPaths('kiln', { suffix: '' }).cache

/** Oldest version that the pinned packages of requirements.txt run on. */
const LEAST_PYTHON = [3, 11] as const
const PYTHONS = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11', 'python']

/** Says what is not run, and why. */
export class Skipped extends Error {
  override name = 'Skipped'
}

export interface Tools {
  bin: string
}

/** A virtual environment with the packages of requirements.txt, made once for each state of that file. */
export const installPython = async (): Promise<Tools> => {
  const python = PYTHONS.find(isRecent)
  if (python === undefined)
    throw new Skipped(
      `Python ${LEAST_PYTHON.join('.')} or later is not there: install it, or put it on PATH`,
    )
  const requirements = join(HERE, 'requirements.txt')
  const folder = folderOf('contract-python', requirements)
  const bin = join(folder, process.platform === 'win32' ? 'Scripts' : 'bin')
  await makeOnce(folder, async () => {
    await install(python, ['-m', 'venv', folder])
    await install(join(bin, 'python'), ['-m', 'pip', 'install', '-q', '-r', requirements])
  })
  return { bin }
}

const isRecent = (python: string): boolean => {
  const { status } = spawnSync(python, [
    '-c',
    `import sys, venv, ensurepip; sys.exit(sys.version_info < (${LEAST_PYTHON.join(', ')}))`,
  ])
  return status === 0
}

/** The folder of the TypeScript client, with its packages as of a date: generator, compiler and linters. */
export const installNode = async (): Promise<string> => {
  const pins = ['package.json', '.npmrc'].map((name) => join(HERE, 'clients', name))
  const folder = folderOf('contract-node', ...pins)
  await makeOnce(folder, async () => {
    mkdirSync(folder, { recursive: true })
    for (const path of pins) cpSync(path, join(folder, basename(path)))
    await install('npm', ['install'], folder)
  })
  return folder
}

const folderOf = (name: string, ...pins: string[]): string => {
  const hash = createHash('sha256')
  for (const path of pins) hash.update(readFileSync(path))
  return join(CACHE, `${name}-${hash.digest('hex').slice(0, 12)}`)
}

/** An installation that was cut short is made again. */
const makeOnce = async (folder: string, make: () => Promise<void>): Promise<void> => {
  const stamp = join(folder, '.complete')
  if (existsSync(stamp)) return
  rmSync(folder, { recursive: true, force: true })
  process.stdout.write(`installing into ${folder}\n`)
  await make()
  writeFileSync(stamp, '')
}

const install = async (command: string, args: readonly string[], cwd = ROOT): Promise<void> => {
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
