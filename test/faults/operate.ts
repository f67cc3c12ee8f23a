import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

import { ROOT, codePath } from '../../src/local/root.ts'
import type { Service } from '../support/service.ts'

/** Runs what an operator types, with the settings of the service. */
export const operate = (service: Service, ...args: string[]) =>
  operateWith(service.settings, ...args)

/** The same with settings that are given. */
export const operateWith = async (settings: NodeJS.ProcessEnv, ...args: string[]) => {
  const child = spawn(process.execPath, [codePath('src/operate.ts'), ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: settings,
  })
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  return { output, errors, code: code as number | null }
}
