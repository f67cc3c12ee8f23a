import type { Budget } from '../budget.ts'
import type { RunState } from '../types.ts'
import type { VirtualFiles } from './virtual-files.ts'
import { findWrongBytes } from '../../python/source-text.ts'
import type { Module } from '../../python/ast.ts'

/** Parses files of a pack, each at most once. */
export interface FileParser {
  parse(file: string): Module | undefined
  /** Source of ours. */
  parseText(text: string): Module
  /** By absolute path. */
  parsed: ReadonlyMap<string, Module>
  stats: { files: number; bytes: number; milliseconds: number }
}

interface FileParserDeps {
  files: VirtualFiles
  parser: { parse(text: string): Module }
  decodeSource: (bytes: Uint8Array) => string
  budget: Budget
  state: RunState
  now: (() => number) | undefined
}

export function makeFileParser(deps: FileParserDeps): FileParser {
  const { files, budget, state, now } = deps
  const known = new Map<string, Module | undefined>()
  const parsed = new Map<string, Module>()
  const stats = { files: 0, bytes: 0, milliseconds: 0 }

  function parseOnce(file: string): Module | undefined {
    const bytes = files.read(file)
    if (!bytes) return fail(file)
    if (stats.bytes + bytes.length > budget.limits.parsedBytes) return budget.spent('parsed', file)
    stats.files += 1
    stats.bytes += bytes.length
    const start = now?.() ?? 0
    const tree = parseText(deps, bytes)
    stats.milliseconds += (now?.() ?? 0) - start
    if (!tree) return fail(file)
    if (tree.broken.length > 0 && !tree.syntaxError) fail(file)
    parsed.set(file, tree)
    return tree
  }

  function fail(file: string): undefined {
    const detail = file.slice(files.root.length + 1)
    state.reasons.set(`unparsable ${detail}`, { code: 'unparsable', detail })
  }

  return {
    parsed,
    stats,
    parseText: (text) => deps.parser.parse(text),
    parse(file) {
      if (!known.has(file)) known.set(file, parseOnce(file))
      return known.get(file)
    },
  }
}

function parseText({ parser, decodeSource }: FileParserDeps, bytes: Uint8Array) {
  try {
    const tree = parser.parse(decodeSource(bytes))
    const syntaxError = findWrongBytes(bytes, tree)
    return syntaxError ? { ...tree, syntaxError } : tree
  } catch {
    // Cancelled, or an error of the parser: the file counts as unparsable.
    return undefined
  }
}
