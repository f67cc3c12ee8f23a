import type { ExtractedNode, NodesSection } from '../../src/inspection.ts'
import { extractNodes } from '../../src/nodes/extract-nodes.ts'
import { makePack } from '../../src/pack.ts'
import { makePythonParser } from '../../src/python/parse.ts'
import { entriesOf } from '../entries.ts'
import type { Files } from '../entries.ts'

const parser = await makePythonParser()

/** The section of a pack given as text by path; a lone text is `__init__.py`. */
export const extract = (given: string | Files): NodesSection => {
  const files = typeof given === 'string' ? { '__init__.py': given } : given
  return extractAs('demo-pack', files)
}

/** The section of a pack of that id. */
export const extractAs = (nodeId: string, files: Files): NodesSection => {
  const pack = makePack(entriesOf(files), { nodeId })
  const { section } = extractNodes({ pack, parser, now: () => 0 })
  if (!section) throw new Error('no section')
  return section
}

export const namesOf = ({ nodes }: NodesSection): string[] => nodes.map(({ name }) => name)

export const nodeOf = ({ nodes }: NodesSection, name: string): ExtractedNode => {
  const node = nodes.find((candidate) => candidate.name === name)
  if (!node) throw new Error(`no node ${name}`)
  return node
}
