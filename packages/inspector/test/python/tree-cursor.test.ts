import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Parser } from 'web-tree-sitter'
import type { Tree } from 'web-tree-sitter'
import { pythonLanguage } from '../../src/python/parse.ts'
import {
  goToFirstChild,
  goToNextSibling,
  goToParent,
  hasError,
  isMissing,
  startCursor,
} from '../../src/python/tree-cursor.ts'
import { readJsonLines } from '../../../../test/support/json-lines.ts'

const TREES = new URL('trees.jsonl', import.meta.url)

const language = await pythonLanguage()
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
  return walk({
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
