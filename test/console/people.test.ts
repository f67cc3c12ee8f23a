import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { parseProject } from '../../client/cli/parse-project.ts'
import { checkPack, findRoot, sortEntries } from '../../console/src/publish/pack.ts'
import type { Pack } from '../../console/src/publish/pack.ts'
import { readFolder, readZip } from '../../console/src/publish/read-pack.ts'

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
    const { kept, leftOut } = sortEntries(
      ['b.py', '.git/HEAD', '.git/objects/1', 'a/.env', 'a/.env.example', 'a/x.pyc'].map(
        (path) => ({
          path,
        }),
      ),
    )
    assert.deepEqual(
      kept.map(({ path }) => path),
      ['a/.env.example', 'b.py'],
    )
    assert.deepEqual(leftOut, [
      { path: '.git', why: 'version control' },
      { path: 'a/.env', why: 'secrets' },
      { path: 'a/x.pyc', why: 'made by tools' },
    ])
  })

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
  const limits = { publisherId: 'alice', mostBytes: 1000 }
  const CASES: [string, Pack, string, RegExp][] = [
    ['a whole pack', packOf(WHOLE), 'ok', /node mixer and the version 1\.2\.0/],
    ['no __init__.py', packOf(['pyproject.toml']), 'warn', /Without __init__\.py/],
    ['no pyproject', packOf(['__init__.py'], { project: undefined }), 'bad', /no pyproject\.toml/],
    ['a broken one', packOf(WHOLE, { project: undefined, projectFault: 'no' }), 'bad', /read: no/],
    [
      'another publisher',
      packOf(WHOLE, { project: parseProject(TOML.replace('alice', 'bob')) }),
      'warn',
      /publisher bob/,
    ],
    [
      'too much',
      packOf(WHOLE, { archive: new Blob(['x'.repeat(1001)]) }),
      'bad',
      /more than 1\.0 kB/,
    ],
    [
      'too many',
      packOf([...WHOLE, ...Array.from({ length: 10_000 }, (_, n) => `f${n}`)]),
      'bad',
      /10,000 files/,
    ],
    ['a large file', packOf(WHOLE, { files: [{ path: 'x', bytes: 2 ** 28 }] }), 'bad', /128|134/],
    ['a bad name', packOf([...WHOLE, 'a:b.py']), 'bad', /a:b\.py/],
    ['twins', packOf([...WHOLE, 'A.py', 'a.py']), 'bad', /A\.py and a\.py/],
    [
      'a secret',
      packOf(WHOLE, { leftOut: [{ path: '.env', why: 'secrets' }] }),
      'warn',
      /\.env \(secrets\)/,
    ],
    ['nothing', packOf([]), 'bad', /no file/],
  ]
  for (const [title, pack, tone, text] of CASES)
    test(`is judged before it is sent: ${title}`, () => {
      const checks = checkPack(pack, limits)
      const found = checks.find((check) => text.test(check.text))
      assert.equal(found?.tone, tone, JSON.stringify(checks))
      assert.equal(
        tone === 'bad',
        checks.some((check) => check.tone === 'bad'),
      )
    })

  test('is packed without what is left out, the same each time; a clean zip is sent as it is', async () => {
    const entry = (path: string, text: string) => ({
      path,
      bytes: text.length,
      read: () => Promise.resolve(new Blob([text])),
    })
    const entries = [
      entry('__init__.py', 'x = 1'),
      entry('pyproject.toml', TOML),
      entry('.env', 's'),
    ]
    const one = await readFolder('mixer', entries)
    const other = await readFolder('mixer', entries.toReversed())
    assert.deepEqual(await one.archive.arrayBuffer(), await other.archive.arrayBuffer())
    const zip = new File([one.archive], 'mixer.zip')
    const read = await readZip(zip)
    assert.equal(read.archive, zip)
    assert.equal(read.project?.version.version, '1.2.0')
    assert.deepEqual(
      read.files.map(({ path }) => path),
      ['__init__.py', 'pyproject.toml'],
    )
    await assert.rejects(readZip(new File(['no zip'], 'x.zip')))
  })
})
