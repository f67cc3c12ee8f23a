import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'

import { ROOT } from '../../src/local/root.ts'
import { makeDocuments } from '../../tools/docs.ts'
import { mergeResults } from '../../tools/docs/results.ts'

const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  ...['client', 'console', 'engine-python', 'engines', 'inspector', 'python'].map(
    (name) => `packages/${name}/README.md`,
  ),
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
        assert.ok(isThere(path, file), `there is no ${file}`)
      for (const [, link = '', anchor] of text.matchAll(LINK)) {
        const target = link === '' ? path : join(dirname(path), link)
        assert.ok(existsSync(join(ROOT, target)), `${link} leads nowhere`)
        if (anchor !== undefined)
          assert.ok(listAnchors(await read(target)).includes(anchor), `${link}#${anchor}`)
      }
    })

  test('begin with what Kiln is, in a README of less than 110 lines', async () => {
    const readme = await read('README.md')
    assert.match(readme.split('\n')[2] ?? '', /^Kiln is /)
    assert.match(readme, /not\s+generative/)
    assert.ok(readme.split('\n').length < 110)
  })

  test('are wrapped at 100 columns, but for pictures, code and the table of the clients', async () => {
    for (const path of PAGES) {
      const text = (await read(path))
        .replaceAll(/^```.*?^```$/gms, '')
        .replace(/^<!-- begin clients -->.*?^<!-- end clients -->$/ms, '')
      const wide = text.split('\n').filter((line) => line.length > 100 && /\s/.test(line.trim()))
      assert.deepEqual(wide, [], path)
    }
  })

  test('CONTRIBUTING.md names every script of package.json', async () => {
    const { scripts } = JSON.parse(await read('package.json')) as { scripts: object }
    const page = await read('CONTRIBUTING.md')
    for (const name of Object.keys(scripts))
      assert.match(page, new RegExp(`\\bnpm (run )?${name}(?![\\w:])`), name)
  })

  test('docs/reliability.md names every failpoint', async () => {
    const page = await read('docs/reliability.md')
    const names = await listFailpoints()
    assert.ok(names.length > 0)
    for (const name of names) assert.ok(page.includes(`\`${name}\``), name)
  })
})

describe('the page of results', () => {
  test('the page of results takes all of a benchmark that was run again, and keeps those of others', () => {
    const stored = 'a.old 1 x aim <= 2 ok\nb.kept 3 ms aim >= 1 ok\n'
    const output = '\n== a\nsome words\na.new 5 x aim <= 2 short\na.new 1 x aim <= 2 ok\n'
    assert.equal(
      mergeResults(stored, output),
      'a.new 5 x aim <= 2 short\na.new 1 x aim <= 2 ok\nb.kept 3 ms aim >= 1 ok\n',
    )
    assert.throws(() => mergeResults(stored, 'a.new failed\n'), /no results/)
  })
})

/** The page of a package names files of the package, too. */
const isThere = (page: string, file: string): boolean =>
  existsSync(join(ROOT, file)) || existsSync(join(ROOT, dirname(page), file))

/** The picture of the structure holds while its arrows do; its counts are those of the last `npm run docs`. */
const withoutCounts = (path: string, text: string): string =>
  path === 'docs/architecture.md' ? text.replaceAll(/(?<=<br\/>|-- |-\. )\d+/g, 'n') : text

/** Anchors of headings, as GitHub makes them. */
const listAnchors = (text: string): string[] =>
  [...text.replaceAll(/^```.*?^```$/gms, '').matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

/** A file of the repository; `dist/` is made, and placeholders are no files. */
const FILE =
  /(?<=[\s`(])((?:src|packages|workflows|activities|test|tools|deploy|docs|samples|bench)\/[\w./-]+\w)(?=[\s`),:])/g

/** A link to a page or picture, and its anchor. */
const LINK = /\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g

const listFailpoints = async (): Promise<string[]> => {
  const names: string[] = []
  for (const folder of ['src', 'activities']) {
    const files = await readdir(join(ROOT, folder), { recursive: true })
    for (const file of files.filter((path) => path.endsWith('.ts'))) {
      const found = (await read(join(folder, file))).matchAll(/failpoint\('(.+?)'\)/g)
      for (const [, name = ''] of found) names.push(name)
    }
  }
  return names
}
