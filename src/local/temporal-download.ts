import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { ROOT, codePath } from './root.ts'
import { TEMPORAL_VERSION, type MakeOptions } from './temporal-version.ts'

/** A download that brings nothing for so long is given up; without a network it fails by itself in a moment. */
const STALL_MS = 20_000
const SAY_EVERY_MS = 3000

/**
 * Lets the SDK download the program, in a process of its own: the SDK can only download and start in one, has no
 * deadline, and its runtime catches signals. Throws with the SDK's reason, or when nothing more arrives.
 */
export const downloadTemporal = async (path: string, options: MakeOptions): Promise<void> => {
  const folder = `${path}.download`
  await mkdir(folder, { recursive: true })
  try {
    options.say(`downloading temporal ${TEMPORAL_VERSION}`)
    await runSdkDownload(folder, options)
    const [name] = await readdir(folder)
    if (name === undefined) throw new Error('the SDK left no file')
    await rename(join(folder, name), path)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const runSdkDownload = async (folder: string, { show, signal }: MakeOptions): Promise<void> => {
  const script = codePath('src/local/temporal-download-child.ts')
  const child = spawn(process.execPath, [script, folder, `v${TEMPORAL_VERSION}`], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
  })
  let reason = ''
  child.stderr.on('data', (chunk: Buffer) => {
    reason += chunk.toString()
  })
  const watch = watchGrowth(folder, show, () => {
    reason = `nothing arrived for ${STALL_MS / 1000} s`
    child.kill('SIGKILL')
  })
  const [code] = (await once(child, 'close')) as [number | null]
  clearInterval(watch)
  if (code !== 0) throw new Error(lastCause(reason))
}

/** The SDK joins a cause of five levels into one line; the last level says what happened. */
const lastCause = (reason: string): string => reason.trim().split(': ').at(-1) ?? ''

const watchGrowth = (
  folder: string,
  show: (text: string) => void,
  stalled: () => void,
): NodeJS.Timeout => {
  let size = 0
  let grownAt = Date.now()
  let busy = false
  const check = async (): Promise<void> => {
    const now = await sizeOf(folder)
    if (now > size) {
      size = now
      grownAt = Date.now()
      show(`downloading temporal ${TEMPORAL_VERSION}: ${Math.round(size / 1e6)} MB`)
    } else if (Date.now() - grownAt > STALL_MS) stalled()
  }
  return setInterval(() => {
    if (busy) return
    busy = true
    void check().finally(() => {
      busy = false
    })
  }, SAY_EVERY_MS)
}

const sizeOf = async (folder: string): Promise<number> => {
  const names = await readdir(folder).catch(() => [])
  const sizes = await Promise.all(
    names.map(
      async (name) =>
        await stat(join(folder, name)).then(
          (found) => found.size,
          () => 0,
        ),
    ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
