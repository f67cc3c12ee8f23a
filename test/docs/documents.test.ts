import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'

import { ROOT } from '../../src/local/root.ts'
import { makeDocuments } from '../../tools/docs.ts'
import { mergeFigures } from '../../tools/docs/figures.ts'
import { makeScriptsPage } from '../../tools/docs/scripts.ts'

const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  ...['client', 'console', 'inspector'].map((name) => `packages/${name}/README.md`),
  ...(await readdir(join(ROOT, 'docs'), { recursive: true }))
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
]

const read = async (path: string): Promise<string> => await readFile(join(ROOT, path), 'utf8')

describe('the documents', () => {
  test('are as `npm run docs` would write them now', async () => {
    for (const [path, text] of Object.entries(await makeDocuments()))
      assert.equal(
        withoutCounts(path, await read(path)),
        withoutCounts(path, text),
        `${path} is stale: run \`npm run docs\``,
      )
  })

  for (const path of [...PAGES, '.env.example'])
    test(`${path} names only scripts and files that are there`, async () => {
      const text = await read(path)
      const { scripts } = JSON.parse(await read('package.json')) as { scripts: object }
      for (const [, name = ''] of text.matchAll(/npm run (?:--silent )?([\w:]+)/g))
        assert.ok(name in scripts, `there is no script ${name}`)
      for (const [, file = ''] of text.matchAll(FILE))
        assert.ok(existsSync(join(ROOT, file)), `there is no ${file}`)
      for (const [, link = ''] of text.matchAll(LINK))
        assert.ok(existsSync(join(ROOT, dirname(path), link)), `${link} leads nowhere`)
    })

  test('begin with what Kiln is, in a README of less than 150 lines', async () => {
    const readme = await read('README.md')
    assert.match(readme.split('\n')[2] ?? '', /^Kiln is /)
    assert.match(readme, /not generative/)
    assert.ok(readme.split('\n').length < 150)
  })

  test('tell the window of every failpoint', async () => {
    const page = await read('docs/reliability.md')
    const names = await listFailpoints()
    assert.ok(names.length > 0)
    for (const name of names) assert.ok(page.includes(`\`${name}\``), name)
  })
})

describe('the page of scripts', () => {
  test('refuses a script that it does not tell of, and one that is gone', async () => {
    const { scripts } = JSON.parse(await read('package.json')) as { scripts: object }
    const pageOf = (these: object): string => makeScriptsPage(JSON.stringify({ scripts: these }))
    assert.throws(() => pageOf({ ...scripts, fly: 'node fly.js' }), /differ in fly:/)
    assert.throws(() => pageOf({ start: 'node start.js' }), /differ in demo/)
  })
})

describe('the page of figures', () => {
  test('takes all figures of a benchmark that was run again, and keeps those of others', () => {
    const stored = 'a.old 1 x aim <= 2 ok\nb.kept 3 ms aim >= 1 ok\n'
    const output = '\n== a\nsome words\na.new 5 x aim <= 2 short\na.new 1 x aim <= 2 ok\n'
    assert.equal(
      mergeFigures(stored, output),
      'a.new 5 x aim <= 2 short\na.new 1 x aim <= 2 ok\nb.kept 3 ms aim >= 1 ok\n',
    )
    assert.throws(() => mergeFigures(stored, 'a.new failed\n'), /no figures/)
  })
})

/** The picture of the structure holds while its arrows do; its counts are those of the last `npm run docs`. */
const withoutCounts = (path: string, text: string): string =>
  path === 'docs/architecture.md' ? text.replaceAll(/(?<=<br\/>|-- |-\. )\d+/g, 'n') : text

/** A file of the repository; `dist/` is made, and placeholders are no files. */
const FILE =
  /(?<=[\s`(])((?:src|packages|workflows|activities|test|tools|deploy|docs|samples|bench)\/[\w./-]+\w)(?=[\s`),:])/g

/** A link to another page or picture, with its anchor left off. */
const LINK = /\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g

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
