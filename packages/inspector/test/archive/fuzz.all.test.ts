import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ARCHIVE_CODES } from '../../src/archive/reject.ts'
import { readArchive } from '../../src/archive/read-archive.ts'
import type { ArchiveResult } from '../../src/archive/result.ts'
import { writeZip } from '../../../../test/support/zip-writer.ts'
import { bytes, init } from './cases/case.ts'
import { makeBytesSource } from './sources.ts'

/** An archive that has every kind of record. */
const whole = writeZip(
  [
    { name: 'nodes/', mode: 0o040755 },
    { ...init, method: 8, descriptor: 'signed' },
    { name: 'nodes/é.py', data: 'x = 1\n'.repeat(50), method: 8, zip64: true },
    { name: 'big.bin', data: Buffer.alloc(70_000, 'clay'), method: 8, descriptor: 'zip64' },
    { name: 'stored.txt', data: 'stored', extra: bytes('UT\x05\x00\x01abcd'), comment: 'c' },
  ],
  { comment: 'c0ffee', zip64: 'needed' },
)

const read = (zip: Uint8Array): Promise<ArchiveResult> => readArchive(makeBytesSource(zip))

/** A result is a verdict; a rejection has a code of the table and text that can be stored. */
const checkResult = (result: ArchiveResult): void => {
  if (result.verdict === 'sound') return
  assert.ok(Object.hasOwn(ARCHIVE_CODES, result.code), result.code)
  assert.doesNotMatch(result.message, /\p{Cc}/u)
}

describe('whatever is sent', () => {
  test('the archive that the others are made of is sound', async () => {
    assert.equal((await read(whole)).verdict, 'sound')
  })

  test('random bytes end in a rejection', async () => {
    const junk = fc.uint8Array({ maxLength: 400 })
    await fc.assert(
      fc.asyncProperty(
        junk,
        fc.constantFrom('', 'PK\x03\x04'),
        junk,
        fc.boolean(),
        async (...parts) => {
          const [head, beginning, body, ends] = parts
          const end = ends ? writeZip([]) : bytes('')
          const result = await read(Buffer.concat([bytes(beginning), head, body, end]))
          checkResult(result)
        },
      ),
      { seed: 7, numRuns: 300 },
    )
  })

  test('an archive cut anywhere ends in a rejection', async () => {
    for (let length = 0; length < whole.length; length += 1) {
      const result = await read(whole.subarray(0, length))
      assert.equal(result.verdict, 'rejected', `cut to ${length}`)
      checkResult(result)
    }
  })

  test('an archive with a part missing or twice ends in a result', async () => {
    const at = fc.nat({ max: whole.length })
    await fc.assert(
      fc.asyncProperty(at, at, async (left, right) =>
        checkResult(await read(Buffer.concat([whole.subarray(0, left), whole.subarray(right)]))),
      ),
      { seed: 7, numRuns: 500 },
    )
  })

  test('every byte of an archive changed to two others ends in a result', async () => {
    for (const at of whole.keys())
      for (const bits of [0x01, 0xff]) {
        const zip = Buffer.from(whole)
        zip.writeUInt8(zip.readUInt8(at) ^ bits, at)
        checkResult(await read(zip))
      }
  })

  test('several bytes of an archive changed end in a result', async () => {
    const change = fc.tuple(fc.nat({ max: whole.length - 1 }), fc.nat({ max: 255 }))
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 2, maxLength: 12 }), async (changes) => {
        const zip = Buffer.from(whole)
        for (const [at, value] of changes) zip[at] = value
        checkResult(await read(zip))
      }),
      { seed: 7, numRuns: 500 },
    )
  })

  test('arbitrary headers end in a result', async () => {
    const u16 = fc.nat({ max: 0xffff })
    const u32 = fc.nat({ max: 0xffffffff })
    const form = fc.record(
      {
        name: fc.uint8Array({ maxLength: 12 }),
        data: fc.uint8Array({ maxLength: 40 }),
        method: fc.constantFrom(0, 8, 9, 99),
        flags: u16,
        mode: u16,
        attributes: u16,
        madeBy: u16,
        extra: fc.uint8Array({ maxLength: 40 }),
        offset: u32,
        descriptor: fc.constantFrom('signed' as const, 'bare' as const, 'zip64' as const),
      },
      { requiredKeys: ['name'] },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(form, { maxLength: 4 }), async (forms) =>
        checkResult(await read(writeZip(forms))),
      ),
      { seed: 7, numRuns: 400 },
    )
  })
})
