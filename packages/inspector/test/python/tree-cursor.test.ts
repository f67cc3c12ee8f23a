import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { Language, Parser } from 'web-tree-sitter'
import type { Tree } from 'web-tree-sitter'
import {
  goToFirstChild,
  goToNextSibling,
  goToParent,
  hasError,
  isMissing,
  startBinding,
  startCursor,
} from '../../src/python/tree-cursor.ts'
import { readJsonLines } from '../../../../test/support/json-lines.ts'

const TREES = new URL('trees.jsonl', import.meta.url)
const GRAMMAR = 'tree-sitter-python/tree-sitter-python.wasm'

await startBinding()
const language = await Language.load(createRequire(import.meta.url).resolve(GRAMMAR))
const parser = new Parser().setLanguage(language)

test('our cursor over the memory of the parser goes and sees as the cursor of its binding', () => {
  const sources = (readJsonLines(TREES) as [source: string][]).map(([source]) => source)
  const halves = sources.map((source) => source.slice(source.length / 2))
  for (const source of [...sources, ...halves, sources.join(''), halves.join('')]) {
    const tree = parser.parse(source)
    assert.ok(tree)
    assert.deepEqual(walkByOurs(tree), walkByTheirs(tree), source)
    tree.delete()
  }
})

/** A line for each step: the type of the node, where it is, and whether it is wrong. */
const walkByOurs = (tree: Tree): string[] => {
  const cursor = startCursor(tree)
  return walk({
    down: () => goToFirstChild(cursor),
    on: () => goToNextSibling(cursor),
    up: () => goToParent(cursor),
    show: () =>
      [
        language.types[cursor.typeId] ?? 'ERROR',
        cursor.startIndex,
        cursor.endIndex,
        isMissing(cursor),
        hasError(cursor),
      ].join(' '),
  })
}

const walkByTheirs = (tree: Tree): string[] => {
  const cursor = tree.walk()
  const steps = walk({
    down: () => cursor.gotoFirstChild(),
    on: () => cursor.gotoNextSibling(),
    up: () => void cursor.gotoParent(),
    show: () =>
      [
        cursor.nodeType,
        cursor.startIndex,
        cursor.endIndex,
        cursor.nodeIsMissing,
        cursor.currentNode.hasError,
      ].join(' '),
  })
  // What the binding frees by itself once nobody has the cursor is not the cursor: the parser's memory would be spoilt.
  cursor.delete()
  return steps
}

interface Steps {
  down(): boolean
  on(): boolean
  up(): void
  show(): string
}

const walk = ({ down, on, up, show }: Steps): string[] => {
  const steps = [show()]
  for (let depth = 0; ; steps.push(show())) {
    if (down()) depth += 1
    else
      while (!on()) {
        if (depth === 0) return steps
        up()
        depth -= 1
        steps.push(show())
      }
  }
}
