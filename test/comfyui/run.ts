/**
 * Runs `npm run test:system -- comfyui`: a fleet of three ComfyUI in a storm, with two core workers. Workers and instances
 * are killed, instances are frozen, hang, lose their thread, their memory or what they made, and callers cancel.
 * `--minutes 10` says for how long tasks come, `--seed 1,2` what happens. `--real <folder>` has two instances of a real
 * ComfyUI render in place of the fakes: a checkout whose packages are in its `venv`.
 */
import { parseArgs } from 'node:util'

import { startTestServers } from '../support/servers.ts'
import { runReal } from './real.ts'
import { runStorm } from './storm.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    real: { type: 'string' },
  },
})

const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

const servers = await startTestServers(say)
try {
  Object.assign(process.env, servers.env)
  if (values.real) await runReal({ checkout: values.real, say })
  else
    for (const seed of values.seed.split(',').map(Number))
      await runStorm({ minutes: Number(values.minutes), seed, say })
} catch (error) {
  say(error instanceof Error ? (error.stack ?? error.message) : String(error))
  process.exitCode = 1
} finally {
  await servers.stop()
}
