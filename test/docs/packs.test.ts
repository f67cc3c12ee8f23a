import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { ROOT } from '../../src/local/root.ts'
import { makeErrorsPage } from '../../tools/docs/errors.ts'
import { listRoutes } from '../../tools/docs/endpoints.ts'

/** Nodes that are classes of a pack, and Node itself. */
const OTHERS =
  /(host|group|output)\snodes?|node classes|nodes?\sof\sthe\s(editor|workflow)|Node (and first words|\d+)|Node's/gi

/** Sentences that call a pack a node. Paths, members and code do, and are left out. */
const listNodes = (text: string): string[] =>
  text
    .replaceAll(/```.*?```/gs, '')
    .replaceAll(/`[^`]*`|\]\([^)]*\)/g, '')
    .replaceAll(OTHERS, '')
    .match(/.{0,60}(?<![\w/{.-])nodes?(?![\w/}.-]\w).{0,40}/gi) ?? []

/** Summaries and descriptions of the routes and of all their schemas. */
const listSentences = (): string[] => {
  const found: string[] = []
  JSON.stringify(listRoutes(), (name, value: unknown) => {
    if (['summary', 'description'].includes(name) && typeof value === 'string') found.push(value)
    return value
  })
  return [...new Set(found)]
}

/** Sentences about reading what a pack has: its nodes. */
const OF_PACKS = [
  'Whether some nodes could not be read.',
  'Whether the nodes could be read; decides when it is given.',
]

test('the API calls a package a pack in every sentence', () => {
  const sentences = listSentences().filter((sentence) => !OF_PACKS.includes(sentence))
  assert.ok(sentences.length > 500)
  assert.deepEqual(sentences.flatMap(listNodes), [])
})

test('so do the errors', () => assert.deepEqual(listNodes(makeErrorsPage()), []))

for (const page of ['guides/publishing.md', 'guides/webhooks.md', 'search.md', 'security.md'])
  test(`so does docs/${page}`, async () =>
    assert.deepEqual(listNodes(await readFile(join(ROOT, 'docs', page), 'utf8')), []))
