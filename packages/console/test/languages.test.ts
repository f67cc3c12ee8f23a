import assert from 'node:assert/strict'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'

import { parseSync } from 'vite'

import { chooseLanguage, LANGUAGES } from '../src/words/language.ts'
import { choosePlurals } from '../src/words/translate.ts'
import { readFields } from '../src/try/form.ts'
import type { Field } from '../src/try/form.ts'
import { KINDS } from '../src/try/kinds.ts'
import { schemaOf } from '../src/try/schema.ts'
import { cutHelp, wordOf } from '../src/try/words.ts'
import { ROOT } from '../../../src/local/root.ts'
import { readDocument } from '../../../test/support/contract.ts'

const SOURCE = join(ROOT, 'packages/console/src')
const TAGS = Object.keys(LANGUAGES).filter((tag) => tag !== 'en')

type Node = { type: string; start: number } & Record<string, unknown>

/** Attributes and members whose text people read. */
const READ =
  /^(label|title|help|placeholder|aria-label|empty|alt|about|action|dismiss|secretTitle|word)$/

/** Calls with every node of a syntax tree. */
const walk = (value: unknown, visit: (node: Node) => void): void => {
  if (Array.isArray(value)) for (const item of value) walk(item, visit)
  if (typeof value !== 'object' || value === null || !('type' in value)) return
  visit(value as Node)
  for (const member of Object.values(value)) walk(member, visit)
}

/** Words that are written down where they are shown; names such as `curl` and `CI` begin in no language. */
const wordsOf = (node: unknown): string | undefined => {
  const { type, value, expression, quasis = [] } = (node ?? {}) as Node & { quasis?: Node[] }
  if (type === 'JSXExpressionContainer') return wordsOf(expression)
  const parts =
    type === 'TemplateLiteral' ? quasis.map((part) => (part['value'] as Node)['cooked']) : [value]
  const text = parts.filter((part) => typeof part === 'string').join('…')
  return /[A-Z]?[a-z]{3}/.test(text) ? text : undefined
}

/** Texts of the source, and those that are shown without the catalogue. */
const readSource = async () => {
  const keys = new Set<string>()
  const hard: string[] = []
  const names = await readdir(SOURCE, { recursive: true })
  for (const name of names.filter((one) => /\.tsx?$/.test(one))) {
    const { program } = parseSync(name, await readFile(join(SOURCE, name), 'utf8'))
    const report = (text: string | undefined): void => void (text && hard.push(`${name}: ${text}`))
    walk(program, (node) => {
      const { callee, arguments: [first] = [] } = node as unknown as {
        callee?: Node
        arguments?: Node[]
      }
      if (node.type === 'CallExpression' && /^(t|rich)$/.test(String(callee?.['name'])))
        if (first?.type === 'Literal') keys.add(String(first['value']))
        else if (first?.type === 'TemplateLiteral') report(`t(${wordsOf(first)})`)
      if (node.type === 'JSXText') report(wordsOf(node))
      const called = node['name'] ?? node['key']
      const isRead = READ.test(String((called as Node | undefined)?.['name']))
      if (isRead && ['JSXAttribute', 'Property'].includes(node.type)) report(wordsOf(node['value']))
    })
  }
  return { keys, hard }
}

const namesOf = ({ label, name, description, control }: Field): string[] => [
  label,
  cutHelp(description),
  ...(control.is === 'choice' ? control.options.map((value) => wordOf(name, value)) : []),
  ...(control.is === 'group' ? control.fields.flatMap(namesOf) : []),
]

/** Names and helps that the document of the API gives to fields and their values; what is no word stays. */
const readNames = async (): Promise<string[]> => {
  const document = await readDocument()
  const schemas = KINDS.flatMap(({ path }) => schemaOf(document as never, path) ?? [])
  const names = schemas.flatMap((schema) => readFields(schema)).flatMap(namesOf)
  return names.filter((name) => /^([A-Z]|\d [a-z]{3})/.test(name))
}

/** Names and tags of a text, which a translation must have, too. */
const placesOf = (text: string): string[] =>
  [
    ...new Set(
      [...text.matchAll(/\{(\w+)[},]|<(\w+)>/g)].map(([, name, tag]) => name ?? `<${tag}>`),
    ),
  ].toSorted()

describe('texts of the console', () => {
  let source: Awaited<ReturnType<typeof readSource>>
  let names: string[]
  before(async () => {
    source = await readSource()
    names = await readNames()
  })

  test('stand in the catalogue: none is written where it is shown', () =>
    assert.deepEqual(source.hard, []))

  for (const tag of TAGS) {
    const read = async () =>
      JSON.parse(await readFile(join(SOURCE, `words/${tag}.json`), 'utf8')) as Record<
        string,
        string
      >

    test(`are all there in ${tag}, and none besides`, async () => {
      const catalogue = await read()
      const wanted = new Set([...source.keys, ...names])
      assert.deepEqual(
        [...wanted].filter((key) => !catalogue[key]?.trim()),
        [],
        'missing',
      )
      assert.deepEqual(
        Object.keys(catalogue).filter((key) => !wanted.has(key)),
        [],
        'left over',
      )
    })

    test(`have the same names and tags in ${tag}, and its plural forms`, async () => {
      const rules = new Intl.PluralRules(tag)
      for (const [english, text] of Object.entries(await read())) {
        const counts = [...english.matchAll(/\{(\w+), plural,/g)].map(([, name]) => name ?? '')
        for (const count of [0, 1, 2, 5]) {
          const values = Object.fromEntries(counts.map((name) => [name, count]))
          const [before, after] = [english, text].map((one) => choosePlurals(one, values, rules))
          assert.doesNotMatch(after ?? '', /plural/, english)
          assert.deepEqual(placesOf(after ?? ''), placesOf(before ?? ''), english)
        }
      }
    })
  }

  const WANTED: [languages: string[], language: string][] = [
    [['de-AT', 'en'], 'de'],
    [['fr-FR', 'zh-Hans-CN', 'en'], 'zh-CN'],
    [['en-GB', 'de'], 'en'],
    [['fr'], 'en'],
    [[], 'en'],
  ]
  for (const [languages, language] of WANTED)
    test(`a browser that wants ${languages.join(', ') || 'nothing'} gets ${language}`, () =>
      assert.equal(chooseLanguage(languages), language))
})
