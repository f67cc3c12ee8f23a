import { stat } from 'node:fs/promises'
import { basename, resolve } from 'node:path'

import { cpuMilliseconds } from '../cpu-clock.ts'
import { openFileSource } from '../archive/source.ts'
import { inspect, inspectPack } from '../inspect.ts'
import type { Inspection } from '../inspection.ts'
import { makePack } from '../pack.ts'
import type { PythonParser } from '../python/parse.ts'
import { readFolder } from './read-folder.ts'

/** Reads a zip, or a folder as if it were a zip. Throws when there is nothing to read. */
export const readInput = async (input: string, parser: PythonParser): Promise<Inspection> => {
  const found: Partial<Inspection> = {}
  const options = {
    parser,
    now: cpuMilliseconds,
    onBegin: () => true,
    onSection: (part: Partial<Inspection>) => void Object.assign(found, part),
  }
  const path = resolve(input)
  // The node's id is not known here; a folder or file often has its name.
  const nodeId = basename(path).replace(/\.zip$/i, '')
  if ((await stat(path)).isDirectory()) {
    const { entries, bytes } = await readFolder(path)
    found.archive = { verdict: 'sound', entries: entries.length, unpackedBytes: bytes }
    await inspectPack(makePack(entries, { nodeId }), [], options)
  } else {
    const source = await openFileSource(path)
    try {
      await inspect({ ...options, source, nodeId })
    } finally {
      await source.close()
    }
  }
  return found as Inspection
}
