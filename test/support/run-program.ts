import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

import { ROOT } from '../../src/local/root.ts'

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
