import assert from 'node:assert/strict'
import { test } from 'node:test'

import { findBrokenRule } from '../../inspector/src/archive/path-rules.ts'
import { PUBLISHER_ID_MAX, PUBLISHER_ID_PATTERN } from '../../../src/registry/domain/publisher.ts'
import { pictureIssue } from '../../../src/registry/domain/picture-address.ts'
import { parseVersionNumber } from '../../../src/registry/domain/version-number.ts'
import { checkPackFiles } from '../src/cli/check-pack.ts'
import { listFindings } from '../src/cli/version-commands.ts'
import type { Project } from '../src/cli/parse-project.ts'

const isBad = (path: string): boolean => {
  const pack = { files: [{ path, bytes: 1 }], root: '', archive: { size: 1 } }
  const checks = checkPackFiles(pack, { publisherId: undefined, maxBytes: 9 })
  return checks.some(({ text }) => text.startsWith('Not every system'))
}

test('a path is checked before it is sent as the service checks it', () => {
  const bad = ['a:b', 'a?.py', '<x>/a', 'a|b', 'a*', 'a"', 'nul', 'x/AUX.py', 'Lpt9 .txt', 'com¹']
  const more = [
    '../a',
    'a/..',
    '/a',
    'a\\b',
    'C:\\a',
    'a//b',
    './a',
    'a.',
    'b /c',
    'a\nb',
    'conin$',
  ]
  const good = [
    'a/b.py',
    'null.py',
    'console.py',
    '.gitignore',
    'a b/c-d_(1).txt',
    'com10',
    '名.py',
  ]
  for (const path of [...bad, ...more]) assert.ok(findBrokenRule(path) && isBad(path), path)
  for (const path of good) assert.ok(!findBrokenRule(path) && !isBad(path), path)
})

const PROJECT = { nodeId: 'cups', node: {}, version: { version: '1.0.0' }, includes: [] }

test('a version that the registry would reject is said before anything is sent', () => {
  const versions = [
    '1.0.0',
    'v7.8',
    ' 2024.01.05',
    '=1',
    '1.0.0-beta.1',
    '1.0.0-a-b.0+c.01',
    '1.0.0-01',
  ]
  const others = ['1.1.0b1', '1.2.3.4', '1.0.0-beta.', '1.0.0-', '1.0.0+', 'one', '1 .0', '1.0-ä']
  for (const version of [...versions, ...others]) {
    const project = { ...PROJECT, publisherId: 'acme', version: { version } } as Project
    const pack = { files: [], root: '', project, archive: { size: 1 } }
    const [first] = checkPackFiles(pack, { publisherId: undefined, maxBytes: 9 })
    assert.equal(first?.tone === 'bad', parseVersionNumber(version) === undefined, version)
  }
})

test('findings that say the same are one line, unless they flag the version', () => {
  const find = (severity: 'high' | 'medium', at: number) => ({
    severity,
    issue_type: 'url',
    message: 'It calls.',
    file_path: `f${at}.py`,
    line_number: at,
  })
  const all = [1, 2, 3, 4, 5].map((at) => find('medium', at))
  assert.deepEqual(listFindings([find('high', 1), find('high', 2), ...all]), [
    '  HIGH url  f1.py:1  It calls.',
    '  HIGH url  f2.py:2  It calls.',
    '  MEDIUM url  f1.py:1, f2.py:2, f3.py:3 and 2 more  It calls.',
  ])
})

test('a picture that the registry cannot show, and a pre-release, are said', () => {
  const find = (icon: string, version: string) => {
    const project = { ...PROJECT, publisherId: undefined, node: { icon }, version: { version } }
    const pack = { files: [], root: '', project, archive: { size: 1 } }
    return checkPackFiles(pack, { publisherId: undefined, maxBytes: 9 }).map(({ text }) => text)
  }
  for (const end of ['.svg', '.SVG?v=1', '.svgz#a', '.ico', '.mp4', '.png', '.webp', '/svg', '']) {
    const icon = `https://x.org/icon${end}`
    const isSaid = find(icon, '1.0.0').some((text) => text.startsWith(`${icon} cannot be shown`))
    assert.equal(isSaid, pictureIssue(icon, () => undefined) !== undefined, icon)
  }
  for (const [version, isEarly] of [
    ['1.0.0-beta.1', true],
    ['1.0.0', false],
    ['1.0.0+a-b', false],
  ] as const)
    assert.equal(find('', version)[0]?.includes('a pre-release'), isEarly, version)
})

test('another publisher in pyproject.toml is named with what to mend, and said when it is no id', () => {
  const warn = (publisherId: string) => {
    const pack = {
      files: [{ path: '__init__.py', bytes: 1 }],
      root: '',
      project: { ...PROJECT, publisherId } as Project,
      archive: { size: 1 },
    }
    const checks = checkPackFiles(pack, { publisherId: 'w2pub', maxBytes: 9 })
    return checks.find(({ tone }) => tone === 'warn')?.text
  }
  const other = (id: string, why: string) =>
    `pyproject.toml names the publisher ${id}, but this publishes for w2pub.${why} Correct PublisherId in pyproject.toml.`
  assert.equal(warn('acme'), other('acme', ''))
  assert.equal(warn('w2 pub!'), other('w2 pub!', ' w2 pub! is no valid publisher ID.'))
  assert.equal(warn('W2PUB'), undefined)
  const isId = (id: string): boolean =>
    new RegExp(PUBLISHER_ID_PATTERN).test(id.toLowerCase()) && id.length <= PUBLISHER_ID_MAX
  for (const id of ['a', 'A-1', '1a', '-a', 'a_b', 'ä', 'a'.repeat(64), 'a'.repeat(65)])
    assert.equal(warn(id)?.includes('is no valid'), !isId(id), id)
})
