import { Parser, type Tree } from 'web-tree-sitter'

/** The parser's memory; other views of it when it has grown. */
interface Binding {
  HEAPU16?: Uint16Array
  HEAPU32?: Uint32Array
}

/** One for the process, as the binding itself is; it leaves its memory on the object that it is started with. */
const BINDING: Binding = {}
let started: Promise<void> | undefined

/** Two that start at once would be two bindings, of which the parser then uses parts of both. */
export const startBinding = async (): Promise<void> => await (started ??= Parser.init(BINDING))

/**
 * A place in a syntax tree, read from the parser's memory. The binding's own cursor calls into WebAssembly for each step
 * and each property, some five times a node, which took half of the time of converting a tree. The layout is that of
 * `subtree.h` and `parser.h` of the pinned release; a test compares every step with the binding's cursor. Memory must not
 * grow while it is used: nothing is parsed meanwhile. Addresses count words of four bytes.
 */
export interface TreeCursor {
  /** Number of the node's type in the grammar; an error has one that is not in it. */
  typeId: number
  /** Offsets in the text. */
  startIndex: number
  endIndex: number
  level: Level
  readonly words: Uint32Array
  /** By production, `aliasesEach` of them: the types that its children have instead of their own. */
  readonly aliases: Uint16Array
  readonly aliasesEach: number
}

/** A node among the children of its parent. One that the grammar hides is a level too. */
interface Level {
  readonly parent: Level | undefined
  /** The level below, made once. */
  child: Level | undefined
  /** The parent is hidden, so that the node counts as a child of what is above. */
  isInHidden: boolean
  at: number
  /** End of the siblings. */
  end: number
  /** Siblings up to the node, extras such as comments left out: its place among the aliases. */
  count: number
  /** Beginning of those of the parent's production; 0 without any. */
  aliases: number
  /** Address of the node; 0 for a small one. */
  node: number
  /** The type as its parent has it; 0 if it is hidden. */
  symbol: number
  /** Those that are not hidden, those of hidden children among them. */
  children: number
  /** In bytes: where the node before it ends, and its own text. */
  before: number
  start: number
  stop: number
}

/** A node takes two words among its siblings: it is small and lies in them, or the first one is its address. */
const NODE_WORDS = 2
const IS_SMALL = 0x1
const SMALL_VISIBLE = 0x2
const SMALL_EXTRA = 0x8
const SMALL_MISSING = 0x20

/** Words from the address of a node. Its children end there. */
const PADDING = 1
const SIZE = 4
const ERROR_COST = 8
const CHILDREN = 9
const SYMBOL = 10
const FLAGS = 11
const VISIBLE_CHILDREN = 12
const PRODUCTION = 16

const VISIBLE = 0x1
const EXTRA = 0x4
const MISSING = 0x200

/** Words from the address of a language. */
const ALIASES_EACH = 9
const ALIASES = 21

export const startCursor = (tree: Tree): TreeCursor => {
  const { HEAPU16, HEAPU32 } = BINDING
  if (!HEAPU16 || !HEAPU32) throw new Error('the binding of tree-sitter shows no memory')
  const root = (tree as unknown as { 0: number })[0] >>> 2
  const language = wordAt(HEAPU32, root + NODE_WORDS) >>> 2
  const cursor = {
    typeId: 0,
    startIndex: 0,
    endIndex: 0,
    level: makeLevel(undefined),
    words: HEAPU32,
    aliases: HEAPU16.subarray(wordAt(HEAPU32, language + ALIASES) >>> 1),
    aliasesEach: wordAt(HEAPU32, language + ALIASES_EACH) & 0xffff,
  }
  cursor.level.at = root
  cursor.level.end = root + NODE_WORDS
  read(cursor, cursor.level)
  show(cursor, cursor.level)
  return cursor
}

const makeLevel = (parent: Level | undefined): Level => ({
  parent,
  child: undefined,
  isInHidden: false,
  at: 0,
  end: 0,
  count: 0,
  aliases: 0,
  node: 0,
  symbol: 0,
  children: 0,
  before: 0,
  start: 0,
  stop: 0,
})

/** False, and nothing moves, if there is none. */
export const goToFirstChild = (cursor: TreeCursor): boolean =>
  cursor.level.children > 0 && goToVisible(cursor, enter(cursor, cursor.level, false))

/** False if there is none; then only the parent can be gone to. */
export const goToNextSibling = (cursor: TreeCursor): boolean => {
  const level = advance(cursor, cursor.level)
  return level !== undefined && goToVisible(cursor, level)
}

export const goToParent = (cursor: TreeCursor): void => {
  let { level } = cursor
  while (level.isInHidden && level.parent) level = level.parent
  show(cursor, level.parent ?? level)
}

/** True when the node is a token that the text lacks. */
export const isMissing = ({ words, level: { at, node } }: TreeCursor): boolean =>
  (node === 0 ? wordAt(words, at) & SMALL_MISSING : wordAt(words, node + FLAGS) & MISSING) > 0

/** True when there is an error at or below the node. */
export const hasError = (cursor: TreeCursor): boolean => {
  const { words, level } = cursor
  return isMissing(cursor) || (level.node > 0 && wordAt(words, level.node + ERROR_COST) > 0)
}

const show = (cursor: TreeCursor, level: Level): true => {
  cursor.level = level
  cursor.typeId = level.symbol
  cursor.startIndex = level.start >>> 1
  cursor.endIndex = level.stop >>> 1
  return true
}

/** The first child, hidden or not. */
const enter = (cursor: TreeCursor, parent: Level, isInHidden: boolean): Level => {
  const { words } = cursor
  const { node } = parent
  const level = (parent.child ??= makeLevel(parent))
  level.isInHidden = isInHidden
  level.at = node - NODE_WORDS * wordAt(words, node + CHILDREN)
  level.end = node
  level.count = 0
  level.aliases = (wordAt(words, node + PRODUCTION) >>> 16) * cursor.aliasesEach
  level.before = parent.before
  read(cursor, level)
  return level
}

/** Goes on to a node that is not hidden: this one, or one in it or after it. */
const goToVisible = (cursor: TreeCursor, first: Level): boolean => {
  let level: Level | undefined = first
  while (level && level.symbol === 0)
    level = level.children > 0 ? enter(cursor, level, true) : advance(cursor, level)
  return level !== undefined && show(cursor, level)
}

/** The next sibling, hidden or not; after the last one of a hidden node that of the node itself. */
const advance = (cursor: TreeCursor, from: Level): Level | undefined => {
  let level = from
  while (level.at + NODE_WORDS === level.end) {
    if (!level.isInHidden || !level.parent) return undefined
    level = level.parent
  }
  level.at += NODE_WORDS
  level.before = level.stop
  read(cursor, level)
  return level
}

const read = (cursor: TreeCursor, level: Level): void => {
  const { words } = cursor
  const first = wordAt(words, level.at)
  const isExtra = first & IS_SMALL ? readSmall(words, level, first) : readLarge(words, level, first)
  if (isExtra) return
  if (level.aliases > 0) level.symbol = cursor.aliases[level.aliases + level.count] || level.symbol
  level.count += 1
}

const readSmall = (words: Uint32Array, level: Level, first: number): boolean => {
  const lengths = wordAt(words, level.at + 1)
  level.node = 0
  level.children = 0
  level.start = level.before + ((lengths >>> 16) & 0xff)
  level.stop = level.start + (lengths >>> 24)
  level.symbol = first & SMALL_VISIBLE ? (first >>> 8) & 0xff : 0
  return (first & SMALL_EXTRA) > 0
}

const readLarge = (words: Uint32Array, level: Level, address: number): boolean => {
  const node = address >>> 2
  const flags = wordAt(words, node + FLAGS)
  level.node = node
  level.children = wordAt(words, node + CHILDREN) && wordAt(words, node + VISIBLE_CHILDREN)
  level.start = level.before + wordAt(words, node + PADDING)
  level.stop = level.start + wordAt(words, node + SIZE)
  level.symbol = flags & VISIBLE ? wordAt(words, node + SYMBOL) & 0xffff : 0
  return (flags & EXTRA) > 0
}

const wordAt = (words: Uint32Array, at: number): number => words[at] as number
