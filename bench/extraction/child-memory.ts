import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { makeLocalInspector } from '../../src/registry/inspector/local.ts'
import { makeFolder, withKept } from '../../test/support/keep.ts'
import { readMemory } from '../support/processor.ts'
import type { GeneratedPack } from './generate-pack.ts'

/** The most resident bytes that a process which reads these packs ever had, in several runs over them. */
export const measureChildMemory = async (
  packs: readonly GeneratedPack[],
  rounds: number,
): Promise<number> =>
  await withKept(async (keep) => {
    const { path: dir } = keep(await makeFolder())
    const inspector = makeLocalInspector({ dir })
    keep({ stop: () => inspector.close() })
    let peak = 0
    for (let round = 0; round < rounds; round++)
      for (const { name, zip } of packs) {
        const path = join(dir, `${name}.zip`)
        await writeFile(path, zip)
        await inspector.inspect({ path, nodeId: name, dependencies: [] })
        // A record in the folder names the process.
        const record = (await readdir(dir)).find((name) => name.endsWith('.child.json'))
        peak = Math.max(peak, readMemory(Number.parseInt(record ?? '', 10), 'VmHWM'))
      }
    return peak
  })
