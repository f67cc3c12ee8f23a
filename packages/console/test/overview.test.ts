import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { renderToStaticMarkup } from 'react-dom/server'

import { findLicenseFile, findTopFile, isReadme } from '../src/registry/archive-files.ts'
import { drawMarkdown } from '../src/registry/draw-markdown.ts'

const render = (text: string): string => renderToStaticMarkup(drawMarkdown(text))
const REL = 'target="_blank" rel="noopener noreferrer nofollow ugc"'

describe('the README of a stranger', () => {
  const CASES: [text: string, html: string][] = [
    ['# Light', '<h2>Light</h2>'],
    ['a **b** `c`', '<p>a <strong>b</strong> <code>c</code></p>'],
    ['- a\n- b', '<ul><li>a</li><li>b</li></ul>'],
    ['[a](https://example.com/b)', `<p><a href="https://example.com/b" ${REL}>a</a></p>`],
    [
      'https://example.com/',
      `<p><a href="https://example.com/" ${REL}>https://example.com/</a></p>`,
    ],
    ['[a](http://example.com/)', '<p>a</p>'],
    ['[a](javascript:alert(1))', '<p>[a](javascript:alert(1))</p>'],
    ['[a](docs/b.md)', '<p>a</p>'],
    ['![a picture](https://example.com/a.png)', '<p><em>a picture</em></p>'],
    ['<script>alert(1)</script>', '<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>'],
    ['<img src=x onerror=alert(1)>', '<p>&lt;img src=x onerror=alert(1)&gt;</p>'],
    ['```html\n<b>\n```', '<pre tabindex="0"><code>&lt;b&gt;\n</code></pre>'],
    [
      '|a|\n|-|\n|b|',
      '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>b</td></tr></tbody></table>',
    ],
  ]
  for (const [text, html] of CASES)
    test(`${JSON.stringify(text)} is ${html}`, () => assert.equal(render(text), html))

  test('is drawn however deep it is', () => {
    assert.match(render(`${'> '.repeat(5_000)}deep`), /deep|^<blockquote>/)
  })
})

describe('a file of an archive', () => {
  const CASES: [paths: string[], found: string | undefined][] = [
    [['__init__.py', 'README.md'], 'README.md'],
    [['pack/__init__.py', 'pack/readme.md'], 'pack/readme.md'],
    [['README', 'README.md', 'a/README.md'], 'README.md'],
    [['__init__.py', 'docs/README.md'], undefined],
    [[], undefined],
  ]
  for (const [paths, found] of CASES)
    test(`the README of ${JSON.stringify(paths)} is ${found}`, () =>
      assert.equal(findTopFile(paths.map(toFile), isReadme), found))

  const LICENSES: [license: string | undefined, found: string | undefined][] = [
    ['{"file": "TERMS.txt"}', 'TERMS.txt'],
    ['{"file": "./TERMS.txt"}', 'TERMS.txt'],
    ['{"file": "gone"}', 'LICENSE'],
    ['{"text": "MIT"}', 'LICENSE'],
    ['MIT', 'LICENSE'],
    [undefined, 'LICENSE'],
  ]
  for (const [license, found] of LICENSES)
    test(`the license of ${license} is ${found}`, () =>
      assert.equal(findLicenseFile(['LICENSE', 'TERMS.txt', 'a.py'].map(toFile), license), found))
})

const toFile = (path: string) => ({ path })
