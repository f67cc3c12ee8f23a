import { createRequire } from 'node:module'
import { Language, Parser, type Tree } from 'web-tree-sitter'
import type { BrokenStatement, Module } from './ast.ts'
import { readNodeTypes, type NodeType } from './grammar.ts'
import { ParseCancelled, walkTree } from './walk.ts'
import { prepare, repair } from './repair.ts'
import { startBinding, startCursor } from './tree-cursor.ts'

export interface PythonParser {
  /**
   * The tree of a file's text with `\n` as line end (see `decodeSource`). Any text has one: what is not Python is left
   * out and noted in `broken`. Throws ParseCancelled and nothing else. About 5 MB a second; the parser's memory (some
   * 30 times the text) is free again when it returns.
   */
  parse(text: string, options?: { isCancelled?: () => boolean }): Module
  /** Frees the parser's memory; it can't be used afterwards. */
  close(): void
}

/** One for the process: of two that load at once each may call functions of the other, or none. */
let loading: Promise<Language> | undefined

const loadLanguage = async (): Promise<Language> => {
  await startBinding()
  const require = createRequire(import.meta.url)
  return await Language.load(require.resolve('tree-sitter-python/tree-sitter-python.wasm'))
}

/** Loads the parser and the grammar, which takes about 20 ms. */
export const makePythonParser = async (): Promise<PythonParser> => {
  const language = await (loading ??= loadLanguage())
  const parser = new Parser().setLanguage(language)
  const types = readNodeTypes(language)
  return {
    parse: (text, { isCancelled = () => false } = {}) =>
      parseModule({ parser, types, text, isCancelled }),
    close: () => parser.delete(),
  }
}

interface Work {
  parser: Parser
  types: NodeType[]
  text: string
  isCancelled: () => boolean
}

/** Further readings of a file with errors stop at this many characters, so that noise costs little more than once. */
const MAX_REREAD = 500_000
const MAX_READINGS = 5

/** Reads again with the grammar's errors worked around, and then without the statements that spoil others. */
const parseModule = (work: Work): Module => {
  let text = prepare(work.text)
  let best = read(work, text, [])
  if (best.broken.length === 0) return best
  const repaired = repair(text)
  if (repaired !== undefined) {
    const second = read(work, repaired, [])
    if (brokenLines(second) < brokenLines(best)) [best, text] = [second, repaired]
  }
  return leaveOutSpoilers(work, text, best)
}

/** An open bracket can take the whole rest of the file along: without its statement the rest is right. */
const leaveOutSpoilers = (work: Work, text: string, first: Module): Module => {
  const lines = work.text.split('\n')
  let best = first
  let shorter = text
  const without: BrokenStatement[] = []
  const readings = Math.min(MAX_READINGS, Math.floor(MAX_REREAD / text.length))
  for (let reading = 0; reading < readings; reading += 1) {
    const spoiler = findSpoiler(lines, best.broken)
    if (!spoiler) return best
    without.push(spoiler)
    shorter = blankLines(shorter, lines, spoiler)
    const next = { ...read(work, shorter, without), syntaxError: first.syntaxError }
    if (brokenLines(next) >= brokenLines(best)) return best
    best = next
  }
  return best
}

const brokenLines = ({ broken }: Module): number =>
  broken.reduce((sum, { line, endLine }) => sum + endLine - line + 1, 0)

/** Parses `repaired`, builds from the text itself. */
const read = (work: Work, repaired: string, without: BrokenStatement[]): Module => {
  const { parser, types, text, isCancelled } = work
  const tree = parseTree(parser, repaired, isCancelled)
  try {
    const found = walkTree(startCursor(tree), text, types, isCancelled)
    const broken = orderBroken([...without, ...found.broken])
    return { kind: 'Module', ...found, text, broken }
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

/**
 * The statement to leave out so that what comes after it can be read: of the longest broken part the first line, and
 * those after it that are indented deeper. Undefined if that is all of it.
 */
const findSpoiler = (lines: string[], broken: BrokenStatement[]): BrokenStatement | undefined => {
  const [longest] = broken.toSorted((a, b) => b.endLine - b.line - (a.endLine - a.line))
  if (!longest) return undefined
  const indent = indentOf(lines[longest.line - 1] ?? '')
  let endLine = longest.line
  while (endLine < longest.endLine && isDeeper(lines[endLine] ?? '', indent)) endLine += 1
  return endLine < longest.endLine ? { line: longest.line, endLine } : undefined
}

const indentOf = (line: string): number => line.search(/\S|$/)

const isDeeper = (line: string, indent: number): boolean =>
  line.trim() === '' || indentOf(line) > indent

/** The text with blanks in these lines. */
const blankLines = (text: string, lines: string[], { line, endLine }: BrokenStatement): string => {
  let start = 0
  for (let index = 0; index < line - 1; index += 1) start += (lines[index] ?? '').length + 1
  let end = start
  for (let index = line - 1; index < endLine; index += 1) end += (lines[index] ?? '').length + 1
  return text.slice(0, start) + text.slice(start, end).replace(/[^\n]/g, ' ') + text.slice(end)
}

/** By line; those that overlap, as a statement and one within it, are one. */
const orderBroken = (broken: BrokenStatement[]): BrokenStatement[] => {
  const ordered: BrokenStatement[] = []
  for (const { line, endLine } of broken.toSorted((a, b) => a.line - b.line)) {
    const last = ordered.at(-1)
    if (last && line <= last.endLine) last.endLine = Math.max(last.endLine, endLine)
    else ordered.push({ line, endLine })
  }
  return ordered
}
