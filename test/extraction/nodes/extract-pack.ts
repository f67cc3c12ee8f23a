import { createHash } from 'node:crypto'

import { HEAD_BYTES, isTextKind } from '../../../src/extraction/archive/entry.ts'
import type { ArchiveEntry } from '../../../src/extraction/archive/entry.ts'
import type { ExtractedNode, NodesSection } from '../../../src/domain/registry/inspection.ts'
import { extractNodes } from '../../../src/extraction/nodes/extract-nodes.ts'
import { makePack } from '../../../src/extraction/pack.ts'
import { makePythonParser } from '../../../src/extraction/python/parse.ts'
import type { PythonParser } from '../../../src/extraction/python/parse.ts'

const encoder = new TextEncoder()

export const toEntries = (files: Record<string, string>): ArchiveEntry[] =>
  Object.entries(files).map(([path, content]) => {
    const bytes = encoder.encode(content)
    return {
      path,
      bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      head: bytes.subarray(0, HEAD_BYTES),
      text: isTextKind(path) ? bytes : undefined,
      mode: undefined,
      executable: false,
    }
  })

export type ExtractPack = (files: string | Record<string, string>) => NodesSection

/** Makes what extracts packs given as text by path; a lone text is `__init__.py`. */
export const makeExtractPack = async (parser?: PythonParser): Promise<ExtractPack> => {
  const used = parser ?? (await makePythonParser())
  return (given) => {
    const files = typeof given === 'string' ? { '__init__.py': given } : given
    const pack = makePack(toEntries(files), { nodeId: 'demo-pack' })
    const { section } = extractNodes({ pack, parser: used, now: () => 0 })
    if (!section) throw new Error('no section')
    return section
  }
}

export const namesOf = ({ nodes }: NodesSection): string[] => nodes.map(({ name }) => name)

export const nodeOf = ({ nodes }: NodesSection, name: string): ExtractedNode => {
  const node = nodes.find((candidate) => candidate.name === name)
  if (!node) throw new Error(`no node ${name}`)
  return node
}
