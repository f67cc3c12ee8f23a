import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { validateRegistryUrls } from '../../../src/registry/domain/registry-url.ts'

describe('a URL of the registry', () => {
  const CASES: [text: string, web: boolean, repository: boolean][] = [
    ['', true, true],
    ['https://example.com/a.png', true, true],
    ['HTTP://example.com', true, true],
    ['icons/a.png', true, true],
    ['//example.com/a.png', true, true],
    ['git@example.com:a/b.git', true, true],
    ['git://example.com/a', false, true],
    ['ssh://git@example.com/a', false, true],
    ['git+https://example.com/a', false, true],
    ['git+ssh://example.com/a', false, false],
    ['javascript:alert(1)', false, false],
    [' JavaScript:alert(1)', false, false],
    ['java\nscript:alert(1)', false, false],
    ['\u0001\tjavascript:alert(1)', false, false],
    ['data:image/png;base64,AAAA', false, false],
    ['file:///etc/passwd', false, false],
    [`https://example.com/${'a'.repeat(2_028)}`, true, true],
    [`https://example.com/${'a'.repeat(2_029)}`, false, false],
    [`https://example.com/${'😀'.repeat(2_028)}`, true, true],
    [`https://example.com/${'😀'.repeat(2_029)}`, false, false],
  ]
  for (const [text, web, repository] of CASES)
    test(`${JSON.stringify(text.slice(0, 40))} (${text.length}) passes: ${web}, ${repository}`, () => {
      const issues = validateRegistryUrls({ icon: text, repository: text }, ['icon', 'repository'])
      assert.deepEqual(
        issues.map(({ field }) => field),
        [...(web ? [] : ['/icon']), ...(repository ? [] : ['/repository'])],
      )
    })

  test('is rejected by the name of its member', () => {
    const form = 'must be a URL whose scheme is one of http, https'
    const given = { icon: 'javascript:x', repository: 5 }
    assert.deepEqual(validateRegistryUrls(given, ['icon', 'repository']), [
      { field: '/icon', code: 'url_refused', message: `/icon ${form}, got "javascript:x"` },
    ])
    const [issue] = validateRegistryUrls({ repository: 'ftp://a' }, ['repository'], '/node')
    assert.equal(issue?.message, `/node/repository ${form}, git, ssh, git+https, got "ftp://a"`)
  })
})
