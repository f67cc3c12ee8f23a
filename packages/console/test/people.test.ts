import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { findRoot } from '../../client/src/cli/check-pack.ts'
import { parseProject } from '../../client/src/cli/parse-project.ts'
import { changedFiles, diffLines } from '../src/moderation/diff.ts'
import { checkPack, sortEntries, toId } from '../src/publish/pack.ts'
import type { Pack } from '../src/publish/pack.ts'
import { writeZip } from '../../../test/support/zip-writer.ts'
import { readPack } from '../src/publish/read-pack.ts'
import { linePoints } from '../src/registry/line-points.ts'

const TOML = '[project]\nname = "mixer"\nversion = "1.2.0"\n[tool.comfy]\nPublisherId = "alice"'

const packOf = (paths: readonly string[], given: Partial<Pack> = {}): Pack => ({
  name: 'mixer',
  files: paths.map((path) => ({ path, bytes: 10 })),
  leftOut: [],
  root: findRoot(paths),
  project: parseProject(TOML),
  archive: new Blob(['zip']),
  ...given,
})

describe('what was dropped', () => {
  test('loses what no pack needs, and a folder is named once', () => {
    const paths = 'b.py .git/HEAD .git/objects/1 a/.env a/.env.example a/x.pyc'.split(' ')
    const { kept, leftOut } = sortEntries(paths.map((path) => ({ path })))
    assert.deepEqual(kept, [{ path: 'a/.env.example' }, { path: 'b.py' }])
    assert.deepEqual(leftOut, [
      { path: '.git', why: 'version control' },
      { path: 'a/.env', why: 'secrets' },
      { path: 'a/x.pyc', why: 'made by tools' },
    ])
  })

  for (const [name, id] of [
    ['My Mixer_v2.zip', 'my-mixer-v2'],
    ['...', 'my-pack'],
  ] as const)
    test(`of the name ${name} gets the id ${id}`, () => assert.equal(toId(name), id))

  const ROOTS: [string[], string][] = [
    [['pyproject.toml', 'x/__init__.py'], ''],
    [['mixer-main/pyproject.toml', 'mixer-main/__init__.py'], 'mixer-main/'],
    [['mixer/__init__.py', '__MACOSX/mixer/x', '.gitattributes', '.DS_Store'], 'mixer/'],
    [['mixer/__init__.py', 'README.md'], ''],
    [['a/mixer/__init__.py'], ''],
    [['mixer/readme.md'], ''],
  ]
  for (const [paths, root] of ROOTS)
    test(`has the root “${root}” with ${paths.join(', ')}`, () =>
      assert.equal(findRoot(paths), root))

  const WHOLE = ['pyproject.toml', '__init__.py']
  const limits = { publisherId: 'alice', maxBytes: 1000 }
  const MANY = Array.from({ length: 10_000 }, (_, n) => `f${n}`)
  const OTHER = parseProject(TOML.replace('alice', 'bob'))
  const LARGE = new Blob(['x'.repeat(1001)])
  const SECRET = [{ path: '.env', why: 'secrets' }]
  const CASES: [title: string, paths: string[], given: Partial<Pack>, tone: string, RegExp][] = [
    ['no __init__.py', ['pyproject.toml'], {}, 'warn', /Without __init__\.py/],
    ['no pyproject', ['__init__.py'], { project: undefined }, 'bad', /no pyproject\.toml/],
    ['a broken one', WHOLE, { project: undefined, projectIssue: 'no' }, 'bad', /read: no/],
    ['another publisher', WHOLE, { project: OTHER }, 'warn', /publisher bob/],
    ['too much', WHOLE, { archive: LARGE }, 'bad', /more than 1\.0 kB/],
    ['too many', [...WHOLE, ...MANY], {}, 'bad', /10,000 files/],
    ['a large file', WHOLE, { files: [{ path: 'x', bytes: 2 ** 28 }] }, 'bad', /128|134/],
    ['a bad name', [...WHOLE, 'a:b.py'], {}, 'bad', /a:b\.py/],
    ['twins', [...WHOLE, 'A.py', 'a.py'], {}, 'bad', /A\.py and a\.py/],
    ['a secret', WHOLE, { leftOut: SECRET }, 'warn', /\.env \(secrets\)/],
    ['nothing', [], {}, 'bad', /no file/],
  ]
  test('a whole pack is not called well before the service has read it', () =>
    assert.deepEqual(checkPack(packOf(WHOLE), limits), []))

  for (const [title, paths, given, tone, text] of CASES)
    test(`a pack is checked before it is sent: ${title}`, () => {
      const checks = checkPack(packOf(paths, given), limits)
      const found = checks.find((check) => text.test(check.text))
      assert.equal(found?.tone, tone, JSON.stringify(checks))
      const isBad = checks.some((check) => check.tone === 'bad')
      assert.equal(tone === 'bad', isBad)
    })

  test('is packed without what is left out, the same each time; a clean zip is sent as it is', async () => {
    const entry = (path: string, text: string) => ({
      path,
      bytes: text.length,
      read: () => Promise.resolve(new Blob([text])),
    })
    const contents = { '__init__.py': 'x = 1', 'pyproject.toml': TOML, '.env': 's' }
    const entries = Object.entries(contents).map(([path, text]) => entry(path, text))
    const one = await readPack('mixer', entries)
    const other = await readPack('mixer', entries.toReversed())
    assert.deepEqual(await one.archive.arrayBuffer(), await other.archive.arrayBuffer())
    const zip = new File([one.archive], 'mixer.zip')
    const read = await readPack('mixer.zip', zip)
    assert.equal(read.archive, zip)
    assert.equal(read.project?.version.version, '1.2.0')
    const paths = read.files.map(({ path }) => path)
    assert.deepEqual(paths, ['__init__.py', 'pyproject.toml'])
    await assert.rejects(readPack('x.zip', new File(['no zip'], 'x.zip')))
  })
})

test('a zip of Windows is read with "/" between its folders', async () => {
  const madeBy = 20
  const zip = writeZip(
    ['mixer\\', 'mixer\\__init__.py', 'mixer\\.env'].map((name) => ({ name, mode: 0, madeBy })),
  )
  const { root, files, leftOut } = await readPack('mixer.zip', new File([new Uint8Array(zip)], 'm'))
  assert.deepEqual([root, files.map(({ path }) => path)], ['mixer/', ['mixer/__init__.py']])
  assert.deepEqual(
    leftOut.map(({ path }) => path),
    ['mixer/.env'],
  )
})

describe('changes of a version', () => {
  test('are the files that are not the same', () => {
    const files = (hashes: Record<string, string>) =>
      Object.entries(hashes).map(([path, sha256]) => ({ path, sha256 }))
    const before = files({ same: 'a', edited: 'a', gone: 'a' })
    const after = files({ same: 'a', edited: 'b', 'a new one': 'a' })
    assert.deepEqual(changedFiles(before, after), [
      { path: 'a new one', kind: 'added' },
      { path: 'edited', kind: 'changed' },
      { path: 'gone', kind: 'removed' },
    ])
  })

  test('are lines with their numbers and three around them, and a gap between', () => {
    const before = Array.from({ length: 30 }, (_, n) => `line ${n + 1}`)
    const after = before.with(1, 'new 2').toSpliced(20, 1)
    const lines = diffLines(before.join('\n'), after.join('\r\n').replaceAll('\r', ''))
    const changes = lines?.filter(({ kind }) => kind !== 'same')
    assert.deepEqual(changes, [
      { kind: 'removed', number: 2, text: 'line 2' },
      { kind: 'added', number: 2, text: 'new 2' },
      { kind: 'gap', number: 18, text: '' },
      { kind: 'removed', number: 21, text: 'line 21' },
    ])
    assert.deepEqual(diffLines('a', 'a'), [])
    const unlike = (word: string): string =>
      Array.from({ length: 4000 }, (_, n) => `${word} ${n}`).join('\n')
    assert.equal(diffLines(unlike('a'), unlike('b')), undefined)
  })
})

test('a chart is a line from left to right, higher for more', () => {
  const two = [
    { at: 1000, value: 0 },
    { at: 3000, value: 10 },
  ]
  assert.equal(linePoints(two, { width: 240, height: 40 }), '0,39 240,1 240,1')
  assert.equal(linePoints([], { width: 240, height: 40 }), '')
})
