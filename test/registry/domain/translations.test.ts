import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { inLanguage } from '../../../src/registry/domain/translations.ts'
import { listLanguages } from '../../../src/platform/http/serve/negotiate.ts'

describe('a node with translations', () => {
  const node = {
    name: 'Light',
    description: 'Lights.',
    translations: {
      de: { name: 'Licht' },
      'pt-BR': { name: 'Luz', description: 'Luzes.' },
      'zh-Hant': { name: '光' },
      german_language: { name: 'x' },
      fr: { motto: 'x' },
    },
  }
  const CASES: [header: string | undefined, texts: [string, string], language?: string][] = [
    ['de-AT, en', ['Licht', 'Lights.'], 'de'],
    ['pt-br', ['Luz', 'Luzes.'], 'pt-BR'],
    ['pt', ['Light', 'Lights.']],
    ['en-US, de', ['Light', 'Lights.']],
    ['en;q=0.5, DE;q=0.8', ['Licht', 'Lights.'], 'de'],
    ['fr, de;q=0.9', ['Licht', 'Lights.'], 'de'],
    ['de;q=0', ['Light', 'Lights.']],
    ['zh-Hant-TW', ['光', 'Lights.'], 'zh-Hant'],
    ['zh-Hant-x-tw', ['光', 'Lights.'], 'zh-Hant'],
    ['german_language', ['Light', 'Lights.']],
    ['*', ['Light', 'Lights.']],
    ['', ['Light', 'Lights.']],
    [undefined, ['Light', 'Lights.']],
    [`${'x,'.repeat(100_000)}de`, ['Light', 'Lights.']],
  ]
  for (const [header, [name, description], language] of CASES)
    test(`is ${name} to readers of ${header?.slice(0, 40) ?? 'nothing'}`, () => {
      const seen = inLanguage(node, listLanguages({ 'accept-language': header }))
      assert.deepEqual([seen.node.name, seen.node.description], [name, description])
      assert.equal(seen.language, language)
      assert.equal(seen.node.translations, node.translations)
    })
})
