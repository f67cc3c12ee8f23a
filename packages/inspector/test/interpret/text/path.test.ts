import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { globPaths, matchWildcard, type GlobFiles } from '../../../src/interpret/text/path/glob.ts'
import * as posix from '../../../src/interpret/text/path/posix.ts'
import { checkTable } from './table.ts'

const METHODS = new Map<string, (path: string) => unknown>([
  ['dirname', posix.dirname],
  ['basename', posix.basename],
  ['normpath', posix.normalizePath],
  ['isabs', posix.isAbsolute],
  ['splitext', posix.splitExtension],
  ['split', posix.splitPath],
])

describe('paths as posixpath has them', () => {
  test('are taken apart and joined', () => {
    checkTable('path', (name: string, path: string) => METHODS.get(name)?.(path))
    checkTable('join', posix.joinPath)
    checkTable('relpath', posix.relativePath)
    assert.equal(posix.relativePath('a', '/b'), undefined)
  })

  test('normalised once are normal', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', '.', '..', '/', '//', 'b.c')), (parts) => {
        const normal = posix.normalizePath(parts.join(''))
        assert.equal(posix.normalizePath(normal), normal)
      }),
    )
  })
})

describe('wildcards as fnmatch has them', () => {
  test('match whole names', () => {
    checkTable('wildcard', matchWildcard)
  })

  test('take no long time on many stars, and not every length', () => {
    assert.equal(matchWildcard('a'.repeat(5000), `${'*a'.repeat(2000)}b`), false)
    assert.equal(matchWildcard('a'.repeat(5001), '*'), undefined)
  })
})

const TREE = [
  'a.py',
  '.hidden.py',
  'nodes/cup.py',
  'nodes/deep/pot_node.py',
  'nodes/.git/x.py',
  'web/a.js',
]

const makeFiles = (paths: readonly string[]): GlobFiles => {
  const all = paths.map((path) => `/r/${path}`)
  const namesIn = (folder: string) => {
    const base = folder.endsWith('/') ? folder : `${folder}/`
    const inside = all.filter((path) => path.startsWith(base))
    return [
      ...new Set(inside.map((path) => path.slice(base.length).split('/')[0] ?? '')),
    ].toSorted()
  }
  const isFolder = (path: string) => namesIn(path).length > 0
  return {
    isFolder,
    charge: () => undefined,
    exists: (path) => all.includes(path) || isFolder(path),
    list: (folder) => (isFolder(folder) ? namesIn(folder) : undefined),
  }
}

describe('globs', () => {
  const files = makeFiles(TREE)
  const glob = (pattern: string, recursive = true, includeHidden = false) =>
    globPaths('/r', pattern, files, { recursive, includeHidden })

  test('go part by part and leave out hidden names', () => {
    assert.deepEqual(glob('*.py'), ['/r/a.py'])
    assert.deepEqual(glob('.*.py'), ['/r/.hidden.py'])
    assert.deepEqual(glob('nodes/*.py'), ['/r/nodes/cup.py'])
    assert.deepEqual(glob('*/*.js'), ['/r/web/a.js'])
    assert.deepEqual(glob('nodes/none.py'), [])
    assert.deepEqual(glob('n*/'), ['/r/nodes/'])
  })

  test('take ** for folders at any depth, or for * when they are not recursive', () => {
    assert.deepEqual(glob('**/*.py'), ['/r/a.py', '/r/nodes/cup.py', '/r/nodes/deep/pot_node.py'])
    assert.deepEqual(glob('**/*.py', false), ['/r/nodes/cup.py'])
    assert.deepEqual(glob('**/*.py', true, true)?.length, 5)
    assert.deepEqual(glob('web/**'), ['/r/web/', '/r/web/a.js'])
  })

  test('give nothing known above 20,000 paths', () => {
    const many = Array.from({ length: 20_001 }, (_, at) => `f${at}.py`)
    const names: GlobFiles = {
      charge: () => undefined,
      list: () => many,
      exists: () => true,
      isFolder: () => true,
    }
    assert.equal(globPaths('/r', '*', names, { recursive: true, includeHidden: true }), undefined)
    assert.equal(globPaths('/r', '**', names, { recursive: true, includeHidden: true }), undefined)
  })
})
