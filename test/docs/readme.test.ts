import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'

import { ERROR_CODES } from '../../src/domain/shared/errors.ts'
import { makeSettingsTable } from '../../tools/docs/settings.ts'
import { makeDocuments } from '../../tools/readme.ts'

const ROOT = join(import.meta.dirname, '../..')
const DOCUMENTS = [
  'README.md',
  'docs/architecture.md',
  'docs/decisions.md',
  'docs/operations.md',
  '.env.example',
]

const read = async (path: string): Promise<string> => await readFile(join(ROOT, path), 'utf8')

describe('the documents', () => {
  test('are as `npm run docs` would write them now', async () => {
    for (const [path, text] of Object.entries(await makeDocuments()))
      assert.equal(await read(path), text, `${path} is stale: run \`npm run docs\``)
  })

  test('name every error code and every setting', async () => {
    const readme = await read('README.md')
    for (const code of Object.keys(ERROR_CODES)) assert.ok(readme.includes(`\`${code}\``), code)
    assert.ok(readme.includes(makeSettingsTable()))
  })

  test('begin with what the engine is not', async () => {
    const [, , first] = (await read('README.md')).split('\n')
    assert.match(first ?? '', /not generative/)
  })

  for (const path of DOCUMENTS)
    test(`${path} names only scripts and files that are there`, async () => {
      const text = await read(path)
      const { scripts } = JSON.parse(await read('package.json')) as { scripts: object }
      for (const [, name = ''] of text.matchAll(/npm run (?:--silent )?([\w:]+)/g))
        assert.ok(name in scripts, `there is no script ${name}`)
      for (const [, file = ''] of text.matchAll(FILE))
        assert.ok(existsSync(join(ROOT, file)), `there is no ${file}`)
    })

  test('tell the window of every failpoint', async () => {
    const operations = await read('docs/operations.md')
    const names = await listFailpoints()
    assert.ok(names.length > 0)
    for (const name of names) assert.ok(operations.includes(`\`${name}\``), name)
  })
})

/** A file of the repository between backticks or in a link; `dist/` is made, and placeholders are no files. */
const FILE =
  /[`(]((?:src|workflows|activities|test|tools|deploy|docs|samples|bench)\/[\w./-]+\w)[`)]/g

const listFailpoints = async (): Promise<string[]> => {
  const names: string[] = []
  for (const folder of ['src', 'activities'])
    for (const file of await readdir(join(ROOT, folder), { recursive: true }))
      if (file.endsWith('.ts'))
        for (const [, name = ''] of (await read(join(folder, file))).matchAll(
          /failpoint\('(.+?)'\)/g,
        ))
          names.push(name)
  return names
}
