import { createRequire } from 'node:module'
import { Language, Parser } from 'web-tree-sitter'
import type { Tree } from 'web-tree-sitter'
import type { Module } from './ast.ts'
import { readNodeTypes } from './grammar.ts'
import type { NodeType } from './grammar.ts'
import { ParseCancelled } from './parse-cancelled.ts'
import { prepare, repair } from './repair.ts'
import { walkTree } from './walk.ts'

export interface ParseOptions {
  /** Asked every few thousand steps. */
  isCancelled?: () => boolean
}

export interface PythonParser {
  /**
   * The tree of a file's text with `\n` as line end (see `decodeSource`). Any text has one: what is not Python is left
   * out and noted in `broken`. Throws ParseCancelled and nothing else. About 4 MB a second; the parser's memory (some
   * 30 times the text) is free again when it returns.
   */
  parse(text: string, options?: ParseOptions): Module
  /** Frees the parser's memory; it can't be used afterwards. */
  close(): void
}

/** Loads the parser and the grammar, which takes about 20 ms. */
export const makePythonParser = async (): Promise<PythonParser> => {
  await Parser.init()
  const require = createRequire(import.meta.url)
  const language = await Language.load(require.resolve('tree-sitter-python/tree-sitter-python.wasm'))
  const parser = new Parser().setLanguage(language)
  const types = readNodeTypes(language)
  return {
    parse: (text, { isCancelled = () => false } = {}) =>
      parseModule({ parser, types, text, lines: text.split('\n'), isCancelled }),
    close: () => parser.delete(),
  }
}

interface Work {
  parser: Parser
  types: NodeType[]
  text: string
  lines: string[]
  isCancelled: () => boolean
}

const parseModule = (work: Work): Module => {
  const text = prepare(work.text)
  const module = read(work, text)
  const repaired = module.broken.length > 0 ? repair(text) : undefined
  if (repaired === undefined) return module
  const second = read(work, repaired)
  return brokenLines(second) < brokenLines(module) ? second : module
}

const brokenLines = ({ broken }: Module): number =>
  broken.reduce((sum, { line, endLine }) => sum + endLine - line + 1, 0)

/** Parses `repaired`, builds from the text itself. */
const read = (work: Work, repaired: string): Module => {
  const { parser, types, text, lines, isCancelled } = work
  const tree = parseTree(parser, repaired, isCancelled)
  try {
    return { kind: 'Module', lines, ...walkTree(tree, { text, lines }, types, isCancelled) }
  } finally {
    tree.delete()
  }
}

const parseTree = (parser: Parser, text: string, isCancelled: () => boolean): Tree => {
  const tree = parser.parse(text, null, { progressCallback: () => isCancelled() })
  if (tree) return tree
  // Else the next file would be read as the rest of this one.
  parser.reset()
  throw new ParseCancelled()
}
