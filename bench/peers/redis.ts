import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import getPort from 'get-port'

const HOST = '127.0.0.1'

/** Redis that has each change on the disk before it answers. Undefined where the machine has no `redis-server`. */
export const startRedis = async (): Promise<
  { port: number; stop(): Promise<void> } | undefined
> => {
  const dir = await mkdtemp(join(tmpdir(), 'kiln-redis-'))
  const port = await getPort({ host: HOST })
  const settings = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always']
  const child = spawn('redis-server', ['--port', String(port), '--bind', HOST, ...settings], {
    cwd: dir,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const closed = new Promise<void>((resolve) => {
    child.once('close', () => resolve())
    child.once('error', () => resolve())
  })
  const stop = async (): Promise<void> => {
    child.kill()
    await closed
    await rm(dir, { recursive: true, force: true })
  }
  const ready = new Promise<boolean>((resolve) =>
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.includes('Ready to accept connections')) resolve(true)
    }),
  )
  if (await Promise.race([ready, closed])) return { port, stop }
  await stop()
  return undefined
}
