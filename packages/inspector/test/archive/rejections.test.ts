import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deflateRawSync } from 'node:zlib'
import { ARCHIVE_CODES } from '../../src/archive/reject.ts'
import { ARCHIVE_LIMITS } from '../../src/archive/limits.ts'
import { readArchive } from '../../src/archive/read-archive.ts'
import { writeZip } from '../../../../test/support/zip-writer.ts'
import { named } from './cases/case.ts'
import { contentCases } from './cases/contents.ts'
import { nameCases } from './cases/names.ts'
import { recordCases } from './cases/records.ts'
import { makeBytesSource } from './sources.ts'

const cases = [...nameCases, ...contentCases, ...recordCases]

describe('a hostile or broken archive', () => {
  for (const { title, zip, code, entry, limits } of cases)
    test(`is rejected for ${title}: ${code}`, async () => {
      const result = await readArchive(makeBytesSource(zip()), { ...ARCHIVE_LIMITS, ...limits })
      assert.equal(result.verdict, 'rejected')
      assert.equal(result.code, code, result.message)
      assert.ok(result.message.startsWith(ARCHIVE_CODES[code]), result.message)
      if (entry !== undefined) assert.ok(result.entry?.includes(entry), `names ${result.entry}`)
    })

  test('names the part of a name that is wrong, and what mends it', async () => {
    for (const [name, said] of [
      ['a:b.txt', /Windows cannot hold .*rename the file \(entry "a:b\.txt", found :\)/],
      ['what?.txt', /rename the file \(entry "what\?\.txt", found \?\)/],
      ['a/nul.txt', /rename the file \(entry "a\/nul\.txt", found nul\)/],
      [
        'pack\\a.py',
        /Compress-Archive of Windows PowerShell.*Explorer.*`kiln publish`.*pack\\a\.py/,
      ],
    ] as const) {
      const result = await readArchive(makeBytesSource(named(name)))
      assert.match('message' in result ? result.message : 'sound', said)
    }
  })

  test('has a case for every code', () => {
    const shown = new Set<string>(cases.map(({ code }) => code))
    assert.deepEqual(
      Object.keys(ARCHIVE_CODES).filter((code) => !shown.has(code)),
      [],
    )
  })

  test('rejects packed data with a flipped bit as damaged, whatever size it unpacks to', async () => {
    const lines = Array.from({ length: 60 }, (_, index) => `line ${index} = ${index ** 2}\n`)
    const data = lines.join('')
    const packed = deflateRawSync(data)
    const codes = new Set<string>()
    for (const at of packed.keys()) {
      const damaged = Buffer.from(packed)
      damaged.writeUInt8(packed.readUInt8(at) ^ (1 << (at % 8)), at)
      const zip = writeZip([{ name: 'a', data, packed: damaged, method: 8 }])
      const result = await readArchive(makeBytesSource(zip))
      codes.add(result.verdict === 'rejected' ? result.code : 'sound')
    }
    // The bits behind the last block mean nothing.
    assert.deepEqual([...codes].toSorted(), ['bad_crc', 'bad_data', 'sound'])
  })

  test('names entry, limit and value in one sentence without control characters', async () => {
    const forms = [{ name: `${'\n'.repeat(300)}.py`, data: 'x' }]
    const result = await readArchive(makeBytesSource(writeZip(forms)))
    assert.equal(result.verdict, 'rejected')
    assert.doesNotMatch(result.message, /\p{Cc}/u)
    assert.ok(result.entry?.length === 200, `entry of ${result.entry?.length}`)
    const long = await readArchive(makeBytesSource(named('é'.repeat(128))))
    assert.ok('limit' in long && long.limit === 255 && long.value === 256, JSON.stringify(long))
  })
})
