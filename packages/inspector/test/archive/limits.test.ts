import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { crc32, deflateRawSync } from 'node:zlib'
import type { ArchiveCode } from '../../src/archive/reject.ts'
import { ARCHIVE_LIMITS, type ArchiveLimits } from '../../src/archive/limits.ts'
import { readArchive } from '../../src/archive/read-archive.ts'
import { packZeros, writeZip } from '../../../../test/support/zip-writer.ts'
import { init } from './cases/case.ts'
import { makeBytesSource, makeSparseSource, watchSource } from './sources.ts'

const MIB = 2 ** 20

describe('limits of an archive', () => {
  test('end a bomb of 1 GiB in 1 MB when it exceeds what it declares', async () => {
    const zip = writeZip([
      init,
      { name: 'zeros', packed: packZeros(1024), method: 8, bytes: 99_999 },
    ])
    const source = watchSource(makeBytesSource(zip))
    const result = await readArchive(source)
    assert.ok(zip.length < 1.2 * MIB, `${zip.length} bytes`)
    assert.equal(result.verdict === 'rejected' && result.code, 'size_mismatch')
    // End record, first block, headers, and not all of the data.
    assert.ok(sumOf(source.reads) < zip.length, `read ${sumOf(source.reads)} of ${zip.length}`)
  })

  test('end a bomb that declares its size before any of its data is read', async () => {
    const packed = packZeros(1024)
    const forms = [init, { name: 'zeros', packed, method: 8, bytes: 1024 * MIB }]
    const source = watchSource(makeBytesSource(writeZip(forms)))
    const result = await readArchive(source)
    assert.equal(result.verdict === 'rejected' && result.code, 'entry_too_big')
    assert.ok(sumOf(source.reads) < 200_000, `read ${sumOf(source.reads)} bytes`)
  })

  test('end 200,000 entries before the directory is read', async () => {
    const zip = writeZip([init], {
      zip64: 'needed',
      zip64Entries: 200_000,
    })
    const end = Buffer.from(zip.subarray(-(56 + 20 + 22)))
    // A directory of 200,000 records lies before the end records.
    end.writeBigUInt64LE(BigInt(100 + 12 * MIB), 56 + 8)
    const source = watchSource(makeSparseSource([zip.subarray(0, 100), 12 * MIB, end]))
    const result = await readArchive(source)
    assert.equal(result.verdict === 'rejected' && result.code, 'too_many_entries')
    assert.deepEqual(
      result.verdict === 'rejected' && [result.limit, result.value],
      [10_000, 200_000],
    )
    assert.ok(sumOf(source.reads) < 300_000, `read ${sumOf(source.reads)} bytes`)
  })

  test('let 200 MB of stored data through in pieces of at most 256 KiB', async () => {
    const source = watchSource(makeStoredZeros(100 * MIB, 2))
    const result = await readArchive(source)
    assert.equal(result.verdict, 'sound', JSON.stringify(result))
    assert.equal(result.unpackedBytes, 200 * MIB)
    const largest = Math.max(...source.reads.map(({ length }) => length))
    assert.ok(largest <= 256 * 1024, `largest read ${largest}`)
  })

  test('keep texts up to a size each and together, Python first', async () => {
    const text = 'x = 1\n'.repeat(10)
    const names = ['a.md', 'b.md', 'c.py', 'd.py']
    const zip = writeZip([
      ...names.map((name) => ({ name, data: text })),
      { name: 'e.py', data: `${text}#` },
    ])
    const limits = { ...ARCHIVE_LIMITS, textBytes: 60, allTextBytes: 180 }
    const result = await readArchive(makeBytesSource(zip), limits)
    assert.equal(result.verdict, 'sound')
    const kept = result.entries.filter((entry) => entry.text).map(({ path }) => path)
    assert.deepEqual(kept, ['a.md', 'c.py', 'd.py'])
  })

  const zeros = { name: 'zeros', data: Buffer.alloc(50_000), method: 8 }
  const archive = writeZip([zeros])
  const bytes = zeros.data.length
  const MAX: [keyof ArchiveLimits, number, ArchiveCode][] = [
    ['archiveBytes', archive.length, 'archive_too_big'],
    ['directoryBytes', 46 + zeros.name.length, 'directory_too_big'],
    ['entryBytes', bytes, 'entry_too_big'],
    ['unpackedBytes', bytes, 'total_too_big'],
    ['entryRatio', Math.ceil(bytes / deflateRawSync(zeros.data).length), 'ratio'],
    ['ratio', Math.ceil(bytes / archive.length), 'ratio'],
  ]
  for (const [name, max, code] of MAX)
    test(`let ${name} be what they say and no more`, async () => {
      const high = { ...ARCHIVE_LIMITS, ratioFloorBytes: 0, entryRatio: bytes, ratio: bytes }
      const validate = (limit: number) =>
        readArchive(makeBytesSource(archive), { ...high, [name]: limit })
      assert.equal((await validate(max)).verdict, 'sound')
      const result = await validate(max - 1)
      assert.equal(result.verdict === 'rejected' && result.code, code)
    })

  test('let as many entries through as they say and no more', async () => {
    const limits = { ...ARCHIVE_LIMITS, entries: 500 }
    const names = Array.from({ length: limits.entries }, (_, index) => ({ name: `n/${index}` }))
    const sound = await readArchive(makeBytesSource(writeZip(names)), limits)
    assert.equal(sound.verdict === 'sound' && sound.entries.length, 500)
    const result = await readArchive(makeBytesSource(writeZip(names, { entries: 501 })), limits)
    assert.equal(result.verdict === 'rejected' && result.code, 'too_many_entries')
  })
})

describe('errors that the archive does not cause', () => {
  test('a failed read is thrown as it is, wherever it happens', async () => {
    const zip = writeZip([
      init,
      { name: 'a.bin', data: Buffer.alloc(90_000), method: 8 },
      { name: 'b', data: Buffer.alloc(400_000) },
    ])
    const failure = new Error('the disk is gone')
    const reads = watchSource(makeBytesSource(zip))
    assert.equal((await readArchive(reads)).verdict, 'sound')
    for (const count of reads.reads.keys()) {
      let left = count
      const source = makeBytesSource(zip)
      const read: typeof source.read = (...place) =>
        left-- > 0 ? source.read(...place) : Promise.reject(failure)
      await assert.rejects(readArchive({ ...source, read }), (error) => error === failure)
    }
  })

  test('an aborted signal ends the reading with its reason', async () => {
    const reason = new Error('cancelled')
    const source = makeBytesSource(writeZip([init, { name: 'a', data: Buffer.alloc(MIB) }]))
    const abort = new AbortController()
    let left = 3
    const read: typeof source.read = (...place) => {
      if (left-- === 0) abort.abort(reason)
      return source.read(...place)
    }
    const reading = readArchive({ ...source, read }, ARCHIVE_LIMITS, abort.signal)
    await assert.rejects(reading, (error) => error === reason)
  })
})

const sumOf = (reads: readonly { length: number }[]): number =>
  reads.reduce((sum, { length }) => sum + length, 0)

/** An archive of files of stored zeros that is never in memory as a whole. */
const makeStoredZeros = (bytes: number, files: number): ReturnType<typeof makeSparseSource> => {
  const block = Buffer.alloc(MIB)
  let crc = 0
  for (let done = 0; done < bytes; done += MIB) crc = crc32(block, crc)
  const name = (index: number): string => `model-${index}.bin`
  const forms = Array.from({ length: files }, (_, index) => ({
    name: name(index),
    crc,
    bytes,
    packedBytes: bytes,
    offset: index * (30 + name(index).length + bytes),
  }))
  const zip = writeZip(forms)
  const header = 30 + name(0).length
  const locals = forms.map((_, index) => zip.subarray(index * header, (index + 1) * header))
  const directory = Buffer.from(zip.subarray(files * header))
  directory.writeUInt32LE(files * (header + bytes), directory.length - 6)
  return makeSparseSource([...locals.flatMap((local) => [local, bytes]), directory])
}
