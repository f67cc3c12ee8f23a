import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { extensionOf, isTextKind } from '../src/archive/entry.ts'
import { makePack, normalName } from '../src/pack.ts'
import type { Pack } from '../src/pack.ts'
import { entriesOf } from './entries.ts'

const packOf = (...paths: string[]): Pack =>
  makePack(entriesOf(Object.fromEntries(paths.map((path) => [path, '']))))

describe('the root of a pack', () => {
  const cases: [string, string[], string][] = [
    ['holds __init__.py', ['__init__.py', 'a/__init__.py'], ''],
    ['holds pyproject.toml', ['pyproject.toml', 'a/__init__.py'], ''],
    ['is the folder that wraps everything', ['a/__init__.py', 'a/b.py'], 'a/'],
    ['is a folder with pyproject.toml', ['a/pyproject.toml', 'a/src/__init__.py'], 'a/'],
    ['is one level deep at most', ['a/b/__init__.py'], ''],
    ['is no folder beside others', ['a/__init__.py', 'b/c.py'], ''],
    ['is no folder beside a file', ['a/__init__.py', 'README.md'], ''],
    ['is no folder without either', ['a/nodes.py'], ''],
    [
      'is a folder beside what archivers and version control leave',
      ['__MACOSX/a/._b.py', '.DS_Store', '.gitignore', '.github/x.yml', 'a/__init__.py'],
      'a/',
    ],
    ['needs the exact name', ['a/__INIT__.py'], ''],
    ['is empty for an empty archive', [], ''],
  ]
  for (const [title, paths, root] of cases)
    test(title, () => assert.equal(packOf(...paths).root, root))
})

describe('a pack', () => {
  test('lists the files below its root, and all entries as they are', () => {
    const paths = [
      '.gitignore',
      'a/z.bin',
      'a/__init__.py',
      'a/Z.py',
      'a/b/é.py',
      'a/🏺.py',
      'a/\uff5e.py',
    ]
    const pack = packOf(...paths)
    assert.deepEqual(pack.paths, ['Z.py', '__init__.py', 'b/é.py', 'z.bin', '🏺.py', '\uff5e.py'])
    assert.deepEqual(
      [...pack.files.keys()].toSorted(),
      pack.paths.filter((path) => path !== 'z.bin'),
    )
    assert.deepEqual(
      pack.entries.map(({ path }) => path),
      paths,
    )
  })

  test('keeps paths that are names of object properties', () => {
    const pack = makePack(entriesOf({ '__init__.py': '', '__proto__/constructor.py': 'x' }))
    assert.equal(new TextDecoder().decode(pack.files.get('__proto__/constructor.py')), 'x')
  })

  test('knows whether its root has __init__.py', () => {
    assert.equal(packOf('a/__init__.py').hasInit, true)
    assert.equal(packOf('pyproject.toml', 'a/__init__.py').hasInit, false)
  })

  test('has the names by which it may import itself', () => {
    const toml = '[project]\nname = "demo_cups"\n'
    const entries = entriesOf({ 'Demo.Pack-main/pyproject.toml': toml })
    const pack = makePack(entries, { nodeId: 'Demo-Pack' })
    assert.deepEqual(pack.ownNames, ['demopack', 'demopackmain', 'democups'])
    assert.deepEqual(packOf('__init__.py').ownNames, [])
    assert.deepEqual(makePack(entriesOf({ 'x.py': '' }), { nodeId: '--' }).ownNames, [])
  })

  test('takes the name of a project however it is written', () => {
    const texts: [string, string | undefined][] = [
      ['[project]\nname = "cups"', 'cups'],
      ['\ufeff[project]\r\nversion = "1"\r\nname=\'Cups\' # a comment\r\n', 'cups'],
      ['  [ project ] # it\n  name\t=\t"cups"', 'cups'],
      ['project.name = "cups"\n[tool.x]\nname = "other"', 'cups'],
      ['project = { version = "1", name = "cups" }', 'cups'],
      ['[tool.x]\nname = "other"\n[project]\nname = "cups"', 'cups'],
      ['[tool.x]\nname = "other"', undefined],
      ['[project.urls]\nname = "other"', undefined],
      ['[[project]]\nname = "other"', undefined],
      ['[project]\ndescription = """\nname = "other"\n"""\nname = "cups"', 'cups'],
      ["description = '''\n[project]\nname = 'other'\n'''\n[project]\nname = 'cups'", 'cups'],
      ['[project]\n# name = "other"\nnames = "other"\nname = "cups"', 'cups'],
      ['[project]\nname = 7\n', undefined],
      ['[project]\nbroken = = =\nname = "cups"', 'cups'],
      ['\0\xff[', undefined],
    ]
    for (const [text, name] of texts) {
      const pack = makePack(entriesOf({ 'pyproject.toml': text }))
      assert.deepEqual(pack.ownNames, name === undefined ? [] : [name], JSON.stringify(text))
    }
  })

  test('compares names without case, hyphens, underscores and dots', () => {
    assert.equal(normalName('Demo.Pack_of-Cups'), 'demopackofcups')
  })
})

test('an extension is that of the last segment, in lower case', () => {
  const paths = ['a.PY', 'a.tar.gz', 'a', '.gitignore', 'a.b/c', 'a/.env', 'a/b.json', 'a.']
  assert.deepEqual(paths.map(extensionOf), ['.py', '.gz', '', '', '', '', '.json', '.'])
})

test('a text kind stays one under the name of a template', () => {
  const kept = ['a.json', 'a.json.default', 'a/b.TXT.Example', 'a.yaml.template']
  assert.deepEqual(kept.filter(isTextKind), kept)
  const others = ['a.default', 'a.zip.default', 'a.json.gz', 'a.json/b.default', '.default']
  assert.deepEqual(others.filter(isTextKind), [])
})
