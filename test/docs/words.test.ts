import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { ROOT } from '../../src/local/root.ts'

const toRegExp = (text = '^\\b$', flags = 'gi'): RegExp => new RegExp(text || '^\\b$', flags)
const readWords = () =>
  readFileSync(join(ROOT, 'test/docs/words.txt'), 'utf8')
    .split('\n')
    .filter((line) => line.includes(' :: ') && !line.startsWith('#'))
    .map((line) => {
      const [says = '', word, allowed, files] = line.split(' :: ')
      return { says, word: toRegExp(word), allowed: toRegExp(allowed), files: toRegExp(files, '') }
    })

const FOLDERS = 'src workflows activities test bench tools packages docs'
const CODE = /```[^]*?```|`[^`\n]*`|\]\([^)]*\)/g
const SKIPPED = /generated\/|histories\/|fixtures\/|docs\/reference\/|words\.test\.ts$/

const split = (line: string): string =>
  line
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/\b[A-Z\d]+(?:_[A-Z\d]+)+\b/g, (name) => name.replaceAll('_', ' '))

const findWords = (words: ReturnType<typeof readWords>, file: string): string[] => {
  const raw = readFileSync(join(ROOT, file), 'utf8')
  const isPage = file.endsWith('.md')
  const text = split(isPage ? raw.replace(CODE, (code) => code.replace(/[^\n]/g, ' ')) : raw)
  return words
    .filter(({ files }) => !files.test(file))
    .flatMap(({ says, word, allowed }) =>
      [...text.matchAll(word)].flatMap(({ 0: found, index }) => {
        const line = text.slice(text.lastIndexOf('\n', index) + 1).split('\n', 1)[0] ?? ''
        if (!found.includes('\n') && line.replace(allowed, '').search(word) < 0) return []
        const at = text.slice(0, index).split('\n').length
        return [`${file}:${at}: "${found.replace(/\s+/g, ' ')}" is ${says}`]
      }),
    )
}

test('names, comments and titles use the words of the field', () => {
  const words = readWords()
  const paths = [...FOLDERS.split(' '), 'README.md', 'CONTRIBUTING.md']
  const listed = execFileSync('git', ['ls-files', ...paths], { cwd: ROOT, encoding: 'utf8' })
  const files = listed
    .split('\n')
    .filter((at) => /\.(tsx?|m?js|py|md)$/.test(at) && !SKIPPED.test(at))
  const found = files.flatMap((file) => findWords(words, file))
  assert.equal(found.length, 0, found.join('\n'))
})
