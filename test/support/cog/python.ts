import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { withDeathSignal } from '../../../src/local/child.ts'
import { ROOT } from '../../../src/local/root.ts'
import { PYTHON } from '../python.ts'

export interface PythonEngine {
  url: string
  child: ChildProcess
  /** SIGKILL, and waits for the end. */
  kill(): Promise<void>
}

/** Serves a file of Python by `kiln_engine` of this checkout. */
export const startPythonEngine = async (file: string, ...args: string[]): Promise<PythonEngine> => {
  const command = ['-m', 'kiln_engine', file, ...args]
  const [program, ...rest] = withDeathSignal('SIGKILL', [String(PYTHON), ...command])
  const source = join(ROOT, 'packages/engine-python/src')
  const child = spawn(program, rest, {
    env: { ...process.env, PYTHONPATH: source, PYTHONDONTWRITEBYTECODE: '1', NO_PROXY: '*' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = once(child, 'exit')
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return {
    url: line.replace('Listening on ', ''),
    child,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
