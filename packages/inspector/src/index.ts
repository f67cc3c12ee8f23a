import { readInput } from './command/read-input.ts'
import type { Inspection } from './inspection.ts'
import { makePythonParser } from './python/parse.ts'

export * from './versions.ts'
export type * from './inspection.ts'

/** Reads a zip, or a folder as if it were one, and runs nothing of it. Throws when there is nothing to read. */
export const readPack = async (path: string): Promise<Inspection> => {
  const parser = await makePythonParser()
  try {
    return await readInput(path, parser)
  } finally {
    parser.close()
  }
}
