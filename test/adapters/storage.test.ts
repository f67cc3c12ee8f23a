import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { after, before, beforeEach, describe, test } from 'node:test'

import { makeLocalStorage } from '../../src/adapters/storage/local.ts'
import type { Storage } from '../../src/adapters/storage/storage.ts'

let folder: string
let root: string
let storage: Storage

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kiln-storage-'))
})

beforeEach(async () => {
  root = await mkdtemp(join(folder, 'root-'))
  storage = makeLocalStorage({ root })
})

after(() => rm(folder, { recursive: true, force: true }))

const put = (key: string, content: string) =>
  storage.putStream(key, Readable.from([Buffer.from(content)]), { maxBytes: 1000 })
const read = async (key: string) => text((await storage.open(key)).stream)
const scratchFile = async (content: string) => {
  const path = join(await storage.scratchDir('test'), 'file')
  await writeFile(path, content)
  return path
}
/** All files below the root, unfinished ones too. */
const everyFile = async () =>
  (await readdir(root, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name)

describe('putStream', () => {
  test('stores the bytes and tells their number and SHA-256', async () => {
    const parts = [Buffer.alloc(100_000, 1), Buffer.alloc(7, 2)]
    const digest = await storage.putStream('a/b/c.bin', Readable.from(parts), { maxBytes: 100_007 })
    const sha256 = createHash('sha256').update(Buffer.concat(parts)).digest('hex')
    assert.deepEqual(digest, { bytes: 100_007, sha256 })
    assert.deepEqual(await buffer((await storage.open('a/b/c.bin')).stream), Buffer.concat(parts))
  })

  test('replaces what was there in one step', async () => {
    await put('a', 'old')
    const { stream } = await storage.open('a')
    await put('a', 'new')
    assert.equal(await text(stream), 'old')
    assert.equal(await read('a'), 'new')
  })

  test('keeps nothing of a stream that is too long or breaks, and what was there stays', async () => {
    await put('a', 'old')
    await assert.rejects(put('a', 'x'.repeat(1001)), { name: 'StorageFault', code: 'too_large' })
    const broken = Readable.from(
      (async function* () {
        yield Buffer.from('half')
        await Promise.reject(new Error('cut'))
      })(),
    )
    await assert.rejects(storage.putStream('a', broken, { maxBytes: 1000 }), /cut/)
    assert.equal(await read('a'), 'old')
    assert.deepEqual(await everyFile(), ['a'])
  })

  test('shows nothing under the key before the stream has ended', async () => {
    const input = new Readable({ read() {} })
    const done = storage.putStream('a', input, { maxBytes: 1000 })
    input.push('half')
    const deadline = Date.now() + 5000
    while ((await everyFile()).length === 0) assert.ok(Date.now() < deadline, 'nothing was written')
    assert.equal(await storage.stat('a'), undefined)
    assert.deepEqual(await storage.list(''), [])
    input.push(null)
    await done
    assert.equal((await storage.stat('a'))?.size, 4)
  })

  test('lets the last of many writers of one key win with a whole file', async () => {
    const contents = Array.from({ length: 20 }, (_, index) => String(index).repeat(500))
    await Promise.all(contents.map((content) => put('same', content)))
    assert.ok(contents.includes(await read('same')))
    assert.deepEqual(await everyFile(), ['same'])
  })
})

describe('putFile', () => {
  test('moves a scratch file under the key', async () => {
    const path = await scratchFile('content')
    await storage.putFile('results/1/result-1.png', path)
    assert.equal(await read('results/1/result-1.png'), 'content')
    await assert.rejects(stat(path), { code: 'ENOENT' })
  })

  test('takes a file that is a link to the very same bytes', async () => {
    await put('a', 'content')
    const path = join(await storage.scratchDir(), 'linked')
    await storage.fetchToFile('a', path)
    await storage.putFile('a', path)
    assert.equal(await read('a'), 'content')
    await assert.rejects(stat(path), { code: 'ENOENT' })
  })

  test('copies a file of another file system', async (context) => {
    const other = await mkdtemp('/dev/shm/kiln-storage-').catch(() => undefined)
    if (other === undefined || (await stat(other)).dev === (await stat(root)).dev)
      return context.skip('no second file system')
    try {
      await writeFile(join(other, 'file'), 'content')
      await storage.putFile('a/b', join(other, 'file'))
      assert.equal(await read('a/b'), 'content')
      assert.deepEqual(await readdir(other), [])
      assert.deepEqual(await everyFile(), ['b'])
    } finally {
      await rm(other, { recursive: true })
    }
  })

  test('passes on the fault of the system when the file is not there', async () => {
    await assert.rejects(storage.putFile('a', join(root, 'absent')), { code: 'ENOENT' })
  })
})

describe('open', () => {
  test('reads all or a range, both ends included, and tells the whole size', async () => {
    await put('a', '0123456789')
    const { stream, size } = await storage.open('a', { start: 2, end: 4 })
    assert.deepEqual([await text(stream), size], ['234', 10])
    assert.equal(await read('a'), '0123456789')
  })

  test('tells when a file was written, and the folders below a folder', async () => {
    for (const key of ['in/a/1', 'in/b/c/2', 'in/file']) await put(key, 'x')
    const { writtenAt = 0 } = (await storage.stat('in/a/1')) ?? {}
    assert.ok(Math.abs(Date.now() - writtenAt) < 60_000, String(writtenAt))
    const listed = async (prefix: string): Promise<string[]> => {
      const names: string[] = []
      for await (const name of storage.listFolders(prefix)) names.push(name)
      return names.toSorted()
    }
    assert.deepEqual(await listed('in'), ['a', 'b'])
    assert.deepEqual(await listed('nowhere'), [])
  })

  test('reads an empty file', async () => {
    await put('empty', '')
    assert.equal(await read('empty'), '')
    assert.equal((await storage.stat('empty'))?.size, 0)
  })

  test('throws not_found for what is absent or a folder', async () => {
    await put('a/b', 'x')
    for (const key of ['nothing', 'a', 'a/nothing', 'a/b/c'])
      await assert.rejects(storage.open(key), { code: 'not_found' }, key)
    assert.equal(await storage.stat('a'), undefined)
  })
})

describe('fetchToFile', () => {
  test('puts the file at a path, replacing what is there', async () => {
    await put('a', 'content')
    const path = await scratchFile('old')
    await storage.fetchToFile('a', path)
    assert.equal(await readFile(path, 'utf8'), 'content')
    await rm(path)
    assert.equal(await read('a'), 'content')
  })

  test('throws not_found for what is absent', async () => {
    await assert.rejects(storage.fetchToFile('a/b', join(folder, 'x')), { code: 'not_found' })
  })
})

describe('remove, removePrefix and list', () => {
  test('touch the named files only', async () => {
    for (const key of ['results/1/1/a', 'results/1/2/b', 'results/10/1/c', 'inputs/1/d'])
      await put(key, 'x')
    assert.deepEqual(await storage.list('results/1'), ['results/1/1/a', 'results/1/2/b'])
    assert.deepEqual(await storage.list('results/1/'), ['results/1/1/a', 'results/1/2/b'])
    await storage.removePrefix('results/1')
    await storage.remove('inputs/1/d')
    assert.deepEqual(await storage.list(''), ['results/10/1/c'])
  })

  test('count what is absent as removed, and list nothing there', async () => {
    await storage.remove('a/b')
    await storage.removePrefix('a')
    assert.deepEqual(await storage.list('a'), [])
    assert.deepEqual(await storage.list(''), [])
  })
})

describe('a key', () => {
  const wrong = [
    '',
    '.',
    '..',
    '/',
    '/etc/passwd',
    'a/',
    'a//b',
    '../outside',
    'a/../../outside',
    'a/..',
    './a',
    'a\\..\\b',
    'a\0b',
    'a\nb',
    'a b',
    'C:',
    'ü',
    '%2e%2e/a',
    '~',
    '.scratch/put/x',
    `a/${'x'.repeat(256)}`,
    'a/'.repeat(600) + 'a',
  ]

  test('that is not one is refused by every operation', async () => {
    const path = await scratchFile('content')
    for (const key of wrong) {
      const operations = [
        () => storage.putFile(key, path),
        () => put(key, 'x'),
        () => storage.open(key),
        () => storage.stat(key),
        () => storage.fetchToFile(key, join(folder, 'fetched')),
        () => storage.remove(key),
      ]
      for (const operation of operations)
        await assert.rejects(operation(), { code: 'key_invalid' }, JSON.stringify(key))
    }
    for (const key of ['', '..', 'a/..', '/', '.scratch'])
      await assert.rejects(storage.removePrefix(key), { code: 'key_invalid' }, key)
    await assert.rejects(storage.list('..'), { code: 'key_invalid' })
    assert.equal(await readFile(path, 'utf8'), 'content')
  })

  test('does not lead through a symbolic link', async () => {
    const outside = await mkdtemp(join(folder, 'outside-'))
    await writeFile(join(outside, 'secret'), 'secret')
    await symlink(outside, join(root, 'way'))
    await symlink(join(outside, 'secret'), join(root, 'file'))
    const path = await scratchFile('content')
    const operations = [
      () => storage.open('way/secret'),
      () => storage.open('file'),
      () => storage.stat('way/secret'),
      () => storage.fetchToFile('file', join(folder, 'fetched')),
      () => storage.fetchToFile('way/secret', join(folder, 'fetched')),
      () => put('way/new', 'x'),
      () => put('way/deep/new', 'x'),
      () => storage.putFile('way/new', path),
      () => storage.remove('way/secret'),
      () => storage.removePrefix('way'),
      () => storage.list('way'),
    ]
    for (const operation of operations)
      await assert.rejects(operation(), { code: 'key_invalid' }, String(operation))
    assert.deepEqual(await storage.list(''), [])
    assert.deepEqual(await readdir(outside), ['secret'])
  })
})

describe('unfinished files', () => {
  test('are swept by age, those of one purpose or of all', async () => {
    const [uploads, render] = [
      await storage.scratchDir('uploads'),
      await storage.scratchDir('render'),
    ]
    const hourAgo = new Date(Date.now() - 3_600_000)
    await put('kept', 'x')
    for (const path of [join(uploads, 'old'), join(uploads, 'young'), join(render, 'old')])
      await writeFile(path, 'x')
    await mkdir(join(render, 'busy'))
    await writeFile(join(render, 'busy', 'young'), 'x')
    for (const path of [join(uploads, 'old'), join(render, 'old'), join(render, 'busy')])
      await utimes(path, hourAgo, hourAgo)

    assert.equal(await storage.sweepTemporary(60_000, 'uploads'), 1)
    assert.deepEqual(await readdir(uploads), ['young'])
    assert.equal(await storage.sweepTemporary(60_000), 1)
    assert.deepEqual(await readdir(render), ['busy'])
    assert.equal(await read('kept'), 'x')
  })

  test('of a write into the store that never ended are swept with any purpose, but not early', async () => {
    const input = new Readable({ read() {} })
    const writing = storage.putStream('a', input, { maxBytes: 1000 })
    input.push('half')
    const left = join(await storage.scratchDir('put'), 'left')
    await writeFile(left, 'half')
    const before = new Date(Date.now() - 601_000)
    await utimes(left, before, before)
    assert.equal(await storage.sweepTemporary(0, 'uploads'), 1)
    input.push(null)
    await writing
    assert.equal(await read('a'), 'half')
  })

  test('are nothing to sweep in a new store', async () => {
    assert.equal(await storage.sweepTemporary(0), 0)
  })
})

describe('check', () => {
  test('passes and leaves nothing behind', async () => {
    await Promise.all([storage.check(), storage.check(), storage.check()])
    assert.deepEqual(await everyFile(), [])
  })

  test('throws when the folder cannot be written', async () => {
    await writeFile(join(root, 'file'), '')
    await assert.rejects(makeLocalStorage({ root: join(root, 'file') }).check(), {
      code: 'ENOTDIR',
    })
  })
})
