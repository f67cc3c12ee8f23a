import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

import { startChild, untilReady } from '../../src/local/child.ts'
import { findPort } from '../../src/local/port.ts'
import { makeFolder } from '../support/keep.ts'

const HOST = '127.0.0.1'

/** Redis that has each change on the disk before it answers. Undefined where the machine has no `redis-server`. */
export const startRedis = async () => {
  // Through the program that gives a child its death signal a missing one would look like one that ends.
  if (spawnSync('redis-server', ['--version']).error) return undefined
  const folder = await makeFolder()
  const port = await findPort()
  const settings = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always']
  let isReady = (): void => {}
  const ready = new Promise<void>((resolve) => {
    isReady = resolve
  })
  const child = await startChild({
    name: 'Redis',
    command: 'redis-server',
    args: ['--port', String(port), '--bind', HOST, ...settings],
    env: { PATH: process.env['PATH'] },
    cwd: folder.path,
    stopSignal: 'SIGTERM',
    deathSignal: 'SIGKILL',
    stopMs: 10_000,
    logPath: join(folder.path, 'redis.log'),
    onLine: (line) => line.includes('Ready to accept connections') && isReady(),
  })
  await untilReady(child, 'Redis', () => ready)
  const stop = () => child.stop().then(folder.stop)
  return { port, stop }
}
