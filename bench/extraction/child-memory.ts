import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { makeLocalInspector } from '../../src/adapters/inspector/local.ts'
import { makeFolder } from '../support/keep.ts'
import type { GeneratedPack } from './generate-pack.ts'

/**
 * The most resident bytes that a process which reads these packs ever had, as the kernel keeps count, for each of
 * several runs over them; `undefined` where the system has no such count.
 */
export const measureChildMemory = async (
  packs: readonly GeneratedPack[],
  rounds: number,
): Promise<number | undefined> => {
  const { path: dir, stop } = await makeFolder()
  const inspector = makeLocalInspector({ dir })
  let peak: number | undefined
  try {
    for (let round = 0; round < rounds; round++)
      for (const { name, zip } of packs) {
        const path = join(dir, `${name}.zip`)
        await writeFile(path, zip)
        await inspector.inspect({ path, nodeId: name, dependencies: [] })
        const bytes = await readPeak(dir)
        if (bytes !== undefined) peak = Math.max(peak ?? 0, bytes)
      }
  } finally {
    await inspector.close()
    await stop()
  }
  return peak
}

/** Of the process that a record in the folder names. */
const readPeak = async (dir: string): Promise<number | undefined> => {
  const record = (await readdir(dir)).find((name) => name.endsWith('.child.json'))
  if (record === undefined) return undefined
  const status = await readFile(`/proc/${Number.parseInt(record, 10)}/status`, 'utf8')
  const kibibytes = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024
}
