import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

import { ROOT } from '../../src/local/root.ts'

/** A program on PATH by one of its names; undefined where it is missing. */
export const findProgram = (...names: string[]): string | undefined => {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const paths = folders.flatMap((folder) => names.map((name) => join(folder, name)))
  return paths.find((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/** Runs a program of this checkout, which shares the terminal; true when it ended well. */
export const runProgram = async (args: string[], env: NodeJS.ProcessEnv = {}): Promise<boolean> => {
  const child = spawn(process.execPath, [join(ROOT, 'tools/run.mjs'), ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return code === 0
}
