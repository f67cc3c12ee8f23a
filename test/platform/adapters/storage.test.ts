import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
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
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { after, before, beforeEach, describe, test } from 'node:test'
import { inspect } from 'node:util'

import { CreateMultipartUploadCommand, ListMultipartUploadsCommand } from '@aws-sdk/client-s3'
import type { S3Client } from '@aws-sdk/client-s3'

import { makeLocalStorage } from '../../../src/platform/storage/local.ts'
import { makeMovingStorage } from '../../../src/platform/storage/moving.ts'
import { makeS3Storage, type S3StorageOptions } from '../../../src/platform/storage/s3.ts'
import { adviseS3, makeS3Client } from '../../../src/platform/storage/s3-client.ts'
import type { Storage } from '../../../src/platform/storage/storage.ts'
import { moveAll } from '../../../src/operate/move-files.ts'
import { sha256Of } from '../../support/digest.ts'
import { useFolder } from '../../support/folder.ts'
import { isLong } from '../../support/long.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { startS3Proxy, type S3Fault, type S3Proxy } from '../../support/s3-proxy.ts'
import { startS3Server, whyNoS3Server, type S3Server } from '../../support/s3-server.ts'
import { waitFor } from '../../support/wait.ts'

const folder = useFolder()
let root: string
let storage: Storage
let everyFile: Backend['everyFile']

const fetchPart = async (url: string) => {
  const response = await fetch(url, { headers: { range: 'bytes=2-4' } })
  return { status: response.status, headers: response.headers, body: await response.text() }
}

/** More than two parts of a bucket, and not a whole number of them. */
const LARGE = randomBytes(11_000_001)

/** A kind of store, made again for each test. */
interface Backend {
  start?(): Promise<void>
  make(): Promise<Storage>
  /** Names of all files, unfinished ones too. */
  everyFile(): Promise<string[]>
  stop?(): Promise<void>
}

const LOCAL: Backend = {
  make: async () => {
    root = await mkdtemp(join(folder, 'root-'))
    return makeLocalStorage({ root })
  },
  everyFile: async () =>
    (await readdir(root, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => entry.name),
}

const put = (key: string, content: string) =>
  storage.putStream(key, Readable.from([Buffer.from(content)]), { maxBytes: 1000 })
const read = async (key: string) => text((await storage.open(key)).stream)
const scratchFile = async (content: string | Buffer) => {
  const path = join(await storage.scratchDir('test'), 'file')
  await writeFile(path, content)
  return path
}

const use = (backend: Backend): void => {
  before(() => backend.start?.())
  beforeEach(async () => {
    storage = await backend.make()
    everyFile = backend.everyFile
  })
  after(() => backend.stop?.())
}

/** Tests what every store does. */
const describeStore = (): void => {
  describe('putStream', () => {
    test('stores the bytes and returns their number and SHA-256', async () => {
      const parts = [Buffer.alloc(100_000, 1), Buffer.alloc(7, 2)]
      const [whole, maxBytes] = [Buffer.concat(parts), 100_007]
      const digest = await storage.putStream('a/b/c.bin', Readable.from(parts), { maxBytes })
      assert.deepEqual(digest, { bytes: maxBytes, sha256: sha256Of(whole) })
      assert.deepEqual(await buffer((await storage.open('a/b/c.bin')).stream), whole)
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
      await assert.rejects(put('a', 'x'.repeat(1001)), { name: 'StorageError', code: 'too_large' })
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
      const done = storage.putStream('a', input, { maxBytes: 10_000_000 })
      // More than a part of a bucket.
      input.push(Buffer.alloc(6_000_000))
      await waitFor('something is written', async () => (await everyFile()).length > 0)
      assert.equal(await storage.stat('a'), undefined)
      assert.deepEqual(await storage.list(''), [])
      input.push(null)
      await done
      assert.equal((await storage.stat('a'))?.size, 6_000_000)
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

    test('passes on the error of the system when the file is not there', async () => {
      await assert.rejects(storage.putFile('a', join(root, 'absent')), { code: 'ENOENT' })
    })
  })

  describe('putFiles', () => {
    test('stores bytes, and moves scratch files, under the names of one folder', async () => {
      const path = await scratchFile('moved')
      const files = { 'a.png': Buffer.from('bytes'), 'b.mp4': path, 'c.webp': new Uint8Array() }
      await storage.putFiles('results/1/1', files)
      const keys = await storage.list('results/1/1')
      assert.deepEqual(await Promise.all(keys.map(read)), ['bytes', 'moved', ''])
      await assert.rejects(stat(path), { code: 'ENOENT' })
      assert.equal((await everyFile()).length, 3)
    })

    test('replaces what was there', async () => {
      for (const content of ['old', 'new']) await storage.putFiles('a', { b: Buffer.from(content) })
      assert.equal(await read('a/b'), 'new')
    })

    test('ends when all have ended, and leaves nothing unfinished when one fails', async () => {
      const files = { a: Buffer.from('x'), b: join(root, 'absent') }
      await assert.rejects(storage.putFiles('folder', files), { code: 'ENOENT' })
      assert.ok((await everyFile()).every((name) => name.endsWith('a')))
    })
  })

  describe('open', () => {
    test('reads all or a range, both ends included, and returns the whole size', async () => {
      await put('a', '0123456789')
      const { stream, size } = await storage.open('a', { start: 2, end: 4 })
      assert.deepEqual([await text(stream), size], ['234', 10])
      assert.equal(await read('a'), '0123456789')
    })

    test('returns when a file was written, and lists the folders below a folder', async () => {
      for (const key of ['in/a/1', 'in/b/c/2', 'in/file']) await put(key, 'x')
      const { writtenAt = 0 } = (await storage.stat('in/a/1')) ?? {}
      assert.ok(Math.abs(Date.now() - writtenAt) < PATIENCE_MS, String(writtenAt))
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
    const paths = '. .. / /etc/passwd a/ a//b ../outside a/../../outside a/.. ./a .scratch/put/x'
    const signs = ['', 'a\\..\\b', 'a\0b', 'a\nb', 'a b', 'C:', 'ü', '%2e%2e/a', '~']
    const long = [`a/${'x'.repeat(256)}`, 'a/'.repeat(600) + 'a']
    const wrong = [...paths.split(' '), ...signs, ...long]

    test('that is not one is rejected by every operation', async () => {
      const path = await scratchFile('content')
      for (const key of wrong) {
        const operations = [
          () => storage.putFile(key, path),
          () => storage.putFiles(key, { a: Buffer.from('x') }),
          () => storage.putFiles('a', { [key]: Buffer.from('x') }),
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
  })

  describe('unfinished files', () => {
    test('are cleaned up by age, those of one purpose or of all', async () => {
      const uploads = await storage.scratchDir('uploads')
      const render = await storage.scratchDir('render')
      const hourAgo = new Date(Date.now() - 3_600_000)
      await put('kept', 'x')
      for (const path of [join(uploads, 'old'), join(uploads, 'young'), join(render, 'old')])
        await writeFile(path, 'x')
      await mkdir(join(render, 'busy'))
      await writeFile(join(render, 'busy', 'young'), 'x')
      for (const path of [join(uploads, 'old'), join(render, 'old'), join(render, 'busy')])
        await utimes(path, hourAgo, hourAgo)

      assert.equal(await storage.cleanUpTemporary(1_800_000, 'uploads'), 1)
      assert.deepEqual(await readdir(uploads), ['young'])
      assert.equal(await storage.cleanUpTemporary(1_800_000), 1)
      assert.deepEqual(await readdir(render), ['busy'])
      assert.equal(await read('kept'), 'x')
    })

    test('are as old as the file system says, whatever the clock of the process', async (t) => {
      const uploads = await storage.scratchDir('uploads')
      await writeFile(join(uploads, 'young'), 'x')
      t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 7_200_000 })
      assert.equal(await storage.cleanUpTemporary(1_800_000, 'uploads'), 0)
      assert.deepEqual(await readdir(uploads), ['young'])
    })

    test('are absent from a new store', async () => {
      assert.equal(await storage.cleanUpTemporary(0), 0)
    })
  })

  test('a check passes and leaves nothing behind', async () => {
    await Promise.all([storage.check(), storage.check(), storage.check()])
    assert.deepEqual(await everyFile(), [])
  })
}

describe('a folder', () => {
  use(LOCAL)
  describeStore()

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
      () => storage.putFiles('way', { new: Buffer.from('x') }),
      () => storage.remove('way/secret'),
      () => storage.removePrefix('way'),
      () => storage.list('way'),
    ]
    for (const operation of operations)
      await assert.rejects(operation(), { code: 'key_invalid' }, String(operation))
    assert.deepEqual(await storage.list(''), [])
    assert.deepEqual(await readdir(outside), ['secret'])
  })

  test('of a write into the store that never ended are cleaned up with any purpose, but not early', async () => {
    const input = new Readable({ read() {} })
    const writing = storage.putStream('a', input, { maxBytes: 1000 })
    input.push('half')
    const left = join(await storage.scratchDir('put'), 'left')
    await writeFile(left, 'half')
    const before = new Date(Date.now() - 601_000)
    await utimes(left, before, before)
    assert.equal(await storage.cleanUpTemporary(0, 'uploads'), 1)
    input.push(null)
    await writing
    assert.equal(await read('a'), 'half')
  })

  test('throws when the folder cannot be written', async () => {
    await writeFile(join(root, 'file'), '')
    const blocked = makeLocalStorage({ root: join(root, 'file') })
    await assert.rejects(blocked.check(), { code: 'ENOTDIR' })
  })
})

describe('a folder that files move to from another', () => {
  let stores: { to: Storage; from: Storage }
  use({
    make: async () => {
      const from = await LOCAL.make()
      stores = { to: await LOCAL.make(), from }
      return makeMovingStorage(stores)
    },
    everyFile: async () => [...(await LOCAL.everyFile()), ...(await stores.from.list(''))],
  })
  describeStore()

  const CONTENT = 'what was there before'
  const putOld = (key: string, store = stores.from) =>
    store.putStream(key, Readable.from([Buffer.from(CONTENT)]), { maxBytes: 1000 })

  test('has the files of both, and writes to the one', async () => {
    await putOld('results/old/1')
    await put('results/new/1', 'new')
    assert.deepEqual(await storage.list('results'), ['results/new/1', 'results/old/1'])
    assert.equal(await read('results/old/1'), CONTENT)
    assert.equal((await storage.stat('results/old/1'))?.size, CONTENT.length)
    assert.deepEqual(await stores.from.list(''), ['results/old/1'])
    await storage.removePrefix('results/old')
    assert.deepEqual(await storage.list(''), ['results/new/1'])
  })

  test('is read and removed from while every file moves', async () => {
    const keys = Array.from({ length: 60 }, (_, index) => `results/${index}/1/result`)
    for (const key of keys) await putOld(key)
    const removed = keys.filter((_, index) => index % 3 === 0)
    const stayed = keys.filter((key) => !removed.includes(key))
    const moving = moveAll(stores, () => {})
    const reading = Promise.all(stayed.map(async (key) => assert.equal(await read(key), CONTENT)))
    await Promise.all([moving, reading, ...removed.map((key) => storage.remove(key))])
    assert.deepEqual(await stores.to.list(''), stayed.toSorted())
    assert.deepEqual(await stores.from.list(''), [])
    assert.match(await moveAll(stores, () => {}), /^0 files, 0.0 MB moved; nothing is left/)
  })

  test('takes no more files at once than a bucket writes, where others wait for a minute only', async () => {
    for (let index = 0; index < 10; index += 1) await putOld(`results/${index}/1`)
    const { putStream } = stores.to
    let [writing, max] = [0, 0]
    stores.to.putStream = async (...values) => {
      writing += 1
      max = Math.max(max, writing)
      return await putStream(...values).finally(() => (writing -= 1))
    }
    await moveAll(stores, () => {})
    assert.equal(max, 2)
  })

  test('takes a copy back whose file was removed meanwhile', async () => {
    await putOld('results/a/1')
    const { open } = stores.to
    stores.to.open = async (key) => {
      await storage.remove(key)
      await putOld(key, stores.to)
      return await open(key)
    }
    await moveAll(stores, () => {})
    assert.deepEqual(await storage.list(''), [])
  })

  test('keeps a file that comes back otherwise, and says so', async () => {
    await putOld('results/a/1')
    const { open } = stores.to
    stores.to.open = async (key) => ({ ...(await open(key)), stream: Readable.from(['other']) })
    const moving = moveAll(stores, () => {})
    await assert.rejects(moving, /results\/a\/1 came back with another digest/)
    assert.deepEqual(await stores.from.list(''), ['results/a/1'])
  })
})

describe('a bucket', { skip: (await whyNoS3Server()) ?? false }, () => {
  let server: S3Server
  let options: S3StorageOptions
  let proxy: S3Proxy
  let client: S3Client
  let prefixes = 0

  const listUploads = async (): Promise<string[]> => {
    const query = { Bucket: options.bucket, Prefix: options.prefix }
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand(query))
    return Uploads.map(({ Key = '' }) => Key)
  }

  use({
    start: async () => {
      server = await startS3Server()
      proxy = await startS3Proxy(server.endpoint)
      client = makeS3Client(server.optionsOf(''))
    },
    make: async () => {
      proxy.issue = undefined
      proxy.requests.length = 0
      const scratch = await mkdtemp(join(folder, 'scratch-'))
      const own = server.optionsOf(`folder/${(prefixes += 1)}`)
      options = { ...own, endpoint: proxy.endpoint, scratch }
      return makeS3Storage(options)
    },
    everyFile: async () => [...(await storage.list('')), ...(await listUploads())],
    stop: async () => {
      await proxy?.close()
      await server?.stop()
    },
  })
  describeStore()

  const putLarge = async (key = 'large') => storage.putFile(key, await scratchFile(LARGE))
  const readLarge = async () => {
    const bytes = await buffer((await storage.open('large')).stream)
    assert.ok(bytes.equals(LARGE), `${bytes.length} bytes, or others`)
  }
  const count = (pattern: RegExp) => proxy.requests.filter((asked) => pattern.test(asked)).length
  /** Breaks the first requests of a sort. */
  const breakFirst = (times: number, pattern: RegExp, failure: S3Fault) => {
    proxy.issue = (asked) => (pattern.test(asked) && (times -= 1) >= 0 ? failure : undefined)
  }

  test('takes a large file in parts, and a small one in one request', async () => {
    await putLarge()
    assert.equal(count(/^PUT .*partNumber=/), 3)
    await put('small', 'x')
    assert.equal(count(/^PUT .*small/), 1)
    const path = join(folder, 'large')
    await storage.fetchToFile('large', path)
    assert.ok((await readFile(path)).equals(LARGE))
    const { stream } = await storage.open('large', { start: 5_242_000, end: 10_999_999 })
    assert.ok((await buffer(stream)).equals(LARGE.subarray(5_242_000, 11_000_000)))
  })

  test('reads with one request, and asks nothing of keys beside its prefix', async () => {
    await put('a', 'x')
    proxy.requests.length = 0
    assert.equal(await read('a'), 'x')
    assert.deepEqual(proxy.requests, [`GET /kiln/${options.prefix}/a?x-id=GetObject`])
    const other = makeS3Storage({ ...options, prefix: `${options.prefix}0` })
    await other.putFile('b', await scratchFile('y'))
    assert.deepEqual(await storage.list(''), ['a'])
    assert.deepEqual(await makeS3Storage({ ...options, prefix: 'folder' }).list('x'), [])
  })

  test('gives links to files, which expire and carry the given headers', async () => {
    await put('a', '0123456789')
    const response = {
      contentType: 'image/png',
      disposition: 'inline; filename="a.png"',
      cacheControl: 'private, max-age=600',
      ends: Math.floor(Date.now() / 1000) + 3600,
    }
    const url = (await storage.link?.('a', response)) ?? ''
    assert.equal(url, await storage.link?.('a', response))
    const { status, headers, body } = await fetchPart(url)
    assert.deepEqual([status, body], [206, '234'])
    assert.equal(headers.get('content-type'), response.contentType)
    assert.equal(headers.get('content-disposition'), response.disposition)
    assert.equal(headers.get('cache-control'), response.cacheControl)
    assert.equal(new URL(url).searchParams.get('X-Amz-Expires'), '900')
    assert.equal((await fetchPart(url.replace('/a?', '/b?'))).status, 403)
    const soon = await storage.link?.('a', { ...response, ends: response.ends - 3540 })
    const seconds = Number(new URL(soon ?? '').searchParams.get('X-Amz-Expires'))
    assert.ok(seconds <= 360, 'it outlives what it was made for')

    const publicEndpoint = 'http://files.test:9000'
    const outside = makeS3Storage({ ...options, endpoint: 'http://127.0.0.1:1', publicEndpoint })
    const signed = new URL(await outside.link('a', response).then(String))
    assert.deepEqual(
      [signed.origin, signed.pathname],
      [publicEndpoint, new URL(url).pathname],
      'signed for the address of callers',
    )
    const here = makeLocalStorage({ root: await mkdtemp(join(folder, 'root-')) })
    const both = makeMovingStorage({ to: storage, from: here })
    await here.putStream('b', Readable.from([Buffer.from('x')]), { maxBytes: 9 })
    assert.deepEqual(
      [await both.link?.('a', response), await both.link?.('b', response)],
      [url, undefined],
    )
    const away = {
      ...here,
      stat: () => Promise.reject(Object.assign(new Error('stale'), { code: 'ESTALE' })),
    }
    assert.equal(await makeMovingStorage({ to: storage, from: away }).link?.('a', response), url)
  })

  test('takes the files of a folder while both are in use, and gives them back', async () => {
    const here = makeLocalStorage({ root: await mkdtemp(join(folder, 'root-')) })
    const files = Array.from({ length: 10 }, (_, index) => `uploads/${index}/a`)
    await put('kept', 'x')
    for (const key of files)
      await here.putStream(key, Readable.from([LARGE.subarray(0, 6_000_000)]), { maxBytes: 1e7 })
    const [there, both] = [storage, makeMovingStorage({ to: storage, from: here })]
    const move = moveAll({ to: there, from: here }, () => {})
    for (const key of files) assert.equal((await both.stat(key))?.size, 6_000_000)
    assert.match(await move, /^10 files, 60.0 MB moved/)
    assert.deepEqual([await there.list('uploads'), await here.list('')], [files, []])
    assert.match(await moveAll({ to: here, from: there }, () => {}), /^10 files/)
    assert.deepEqual([await there.list(''), await here.list('')], [['kept'], files])
  })

  test('aborts what a killed process has left of a write, a day later', async () => {
    const at = { Bucket: options.bucket, Key: `${options.prefix}/left` }
    await client.send(new CreateMultipartUploadCommand(at))
    assert.equal(await storage.cleanUpTemporary(0, 'uploads'), 0)
    assert.equal((await everyFile()).length, 1)
    assert.equal(await storage.cleanUpTemporary(0), 1)
    assert.deepEqual(await everyFile(), [])
  })

  const checkErrorOf = (store: Storage): Promise<unknown> =>
    store.check().catch((error: unknown) => error)
  const as = (accessKeyId: string) => ({ credentials: { accessKeyId, secretAccessKey: 'other' } })
  const WRONG: [string, Partial<S3StorageOptions>, RegExp][] = [
    ['a bucket that is not there', { bucket: 'nowhere' }, /make the bucket, or correct S3_BUCKET/],
    ['a wrong secret', as('kiln-test'), /correct S3_ACCESS_KEY_ID/],
    ['an unknown key', as('nobody'), /correct the settings|correct S3_ACCESS_KEY_ID/],
  ]
  for (const [what, wrong, advice] of WRONG)
    test(`says what to do about ${what}, and nothing that was signed`, async () => {
      const error = await checkErrorOf(makeS3Storage({ ...options, ...wrong }))
      assert.match(adviseS3(error) ?? 'none', advice)
      assert.doesNotMatch(inspect(error, { depth: 10 }), /other|Signature=|AWS4-HMAC|Credential=/)
    })

  test('has no advice about a server that is away', async () => {
    const away = makeS3Storage({ ...options, endpoint: 'http://127.0.0.1:1' })
    const error = await checkErrorOf(away)
    assert.deepEqual([String(error).includes('ECONNREFUSED'), adviseS3(error)], [true, undefined])
  })

  // Half a minute of time-outs and pauses.
  describe('behind a bad network', { skip: isLong ? false : 'only with --long' }, () => {
    beforeEach(() => {
      // Long enough for a part on a machine that is busy otherwise.
      storage = makeS3Storage({ ...options, responseMs: PATIENCE_MS / 30 })
    })

    const PASSING: [string, number, RegExp, S3Fault][] = [
      ['a write that gets 503 twice', 2, /^PUT/, 'busy'],
      ['a part that gets 503 twice', 2, /partNumber=2/, 'busy'],
      ['a part whose response is lost', 1, /partNumber=3/, 'lost'],
      ['a part that never gets a response', 1, /partNumber=1/, 'silent'],
      ['a read that gets 503 twice', 2, /^GET/, 'busy'],
      ['a read that never gets a response', 1, /^GET/, 'silent'],
      ['a read whose bytes break off', 3, /^GET/, 2_000_000],
      ['a read whose response is lost', 1, /^GET/, 'lost'],
    ]
    for (const [what, times, pattern, failure] of PASSING)
      test(`outlives ${what}`, async () => {
        breakFirst(times, pattern, failure)
        await putLarge()
        await readLarge()
        assert.deepEqual(await everyFile(), ['large'])
      })

    test('goes on at the byte where a read broke off, of the same object', async () => {
      await putLarge()
      breakFirst(1, /^GET/, 2_000_000)
      await readLarge()
      assert.match(proxy.requests.at(-1) ?? '', /bytes=[1-9]\d*-11000000$/)
      const { stream } = await storage.open('large', { start: 0, end: 10_000_000 })
      breakFirst(1, /^GET/, 1000)
      const broken = await storage.open('large', { start: 0, end: 10_000_000 })
      await put('large', 'other')
      await assert.rejects(buffer(broken.stream), { code: 'PreconditionFailed' })
      stream.destroy()
    })

    const LASTING: [string, RegExp, S3Fault, object][] = [
      ['responds with 503', /^PUT/, 'busy', { code: 'SlowDown', status: 503 }],
      ['responds with 503 to one part', /partNumber=2/, 'busy', { code: 'SlowDown', status: 503 }],
      ['does not respond', /partNumber/, 'silent', { code: 'ETIMEDOUT' }],
      ['loses its responses', /partNumber/, 'lost', { code: 'ECONNRESET' }],
    ]
    for (const [what, pattern, failure, error] of LASTING)
      test(`keeps nothing of a write while the server ${what}`, async () => {
        proxy.issue = (asked) => (pattern.test(asked) ? failure : undefined)
        const path = await scratchFile(LARGE)
        await assert.rejects(storage.putFile('large', path), { name: 'S3Error', ...error })
        assert.deepEqual(await everyFile(), [])
        proxy.issue = undefined
        await storage.putFile('large', path)
        await readLarge()
      })

    test('keeps no small file waiting for large ones', async () => {
      proxy.issue = (asked) => (asked.includes('partNumber') ? 'silent' : undefined)
      const putSilent = async (_: unknown, at: number): Promise<string> => {
        const path = await scratchFile(LARGE)
        await storage.putFile(`large/${at}`, path).catch(() => {})
        return 'a large one'
      }
      const large = Array.from({ length: 4 }, putSilent)
      await waitFor('parts are sent', () => count(/partNumber/) > 0)
      const small = put('small', 'x').then(() => 'the small one')
      assert.equal(await Promise.race([small, ...large]), 'the small one')
      proxy.issue = undefined
      await Promise.all(large)
    })

    test('ends a read that breaks off again and again', async () => {
      await putLarge()
      proxy.issue = (asked) => (asked.startsWith('GET') ? 0 : undefined)
      await assert.rejects(storage.fetchToFile('large', join(folder, 'never')))
    })

    test('asks for nothing more once its reader has gone', async () => {
      await putLarge()
      const { stream } = await storage.open('large')
      stream.once('data', () => stream.destroy())
      await once(stream, 'close')
      await waitFor('the server notices', () => proxy.underway === 0)
      assert.equal(count(/^GET/), 1)
    })
  })
})
