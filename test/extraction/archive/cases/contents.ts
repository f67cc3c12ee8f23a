import { crc32, deflateRawSync } from 'node:zlib'

import { packZeros, writeZip } from '../../../support/zip-writer.ts'
import type { EntryForm } from '../../../support/zip-writer.ts'
import { bytes, changed, cut, init } from './case.ts'
import type { RejectionCase } from './case.ts'

const moded = (mode: number): Buffer => writeZip([init, { name: 'x', data: 'target', mode }])

const packed = deflateRawSync(Buffer.from('clay '.repeat(100)))

const unicodePath = (name: string, path: string): Buffer => {
  const data = Buffer.alloc(9)
  data.writeUInt16LE(0x7075, 0)
  data.writeUInt16LE(5 + Buffer.byteLength(path), 2)
  data.writeUInt8(1, 4)
  data.writeUInt32LE(crc32(bytes(name)), 5)
  return Buffer.concat([data, Buffer.from(path)])
}

/** Local header and data of one entry, which another may hide in its own. */
const inner: EntryForm = { name: 'b', data: 'x = 1\n' }
const innerLocal = writeZip([inner]).subarray(0, 30 + 1 + 6)

const inData = (): Buffer =>
  writeZip([
    { name: 'outer.py', data: innerLocal },
    { ...inner, offset: 30 + 8 },
  ])

const inExtraField = (): Buffer => {
  const extra = Buffer.concat([bytes('\x11\x11'), Buffer.from([innerLocal.length, 0]), innerLocal])
  return writeZip([
    { name: 'a', local: { extra } },
    { ...inner, offset: 30 + 1 + 4 },
  ])
}

/** Types of files, local headers, packed data and sizes: rows 8 to 14 and 17. */
export const contentCases: RejectionCase[] = [
  // 8 and 9: types
  { title: 'a symbolic link', zip: () => moded(0o120777), code: 'symlink', entry: 'x' },
  {
    title: 'a symbolic link by a tool of another system',
    zip: () => writeZip([{ name: 'x', mode: 0o120777, madeBy: 20 }]),
    code: 'symlink',
  },
  { title: 'a FIFO', zip: () => moded(0o010644), code: 'special_file' },
  { title: 'a character device', zip: () => moded(0o020644), code: 'special_file' },
  { title: 'a block device', zip: () => moded(0o060644), code: 'special_file' },
  { title: 'a socket', zip: () => moded(0o140644), code: 'special_file' },
  // 10 to 14: contents and headers
  {
    title: 'more packed data than the declared size',
    zip: () => writeZip([{ name: 'a', packed, method: 8, bytes: 499, data: 'clay '.repeat(100) }]),
    code: 'size_mismatch',
    entry: 'a',
  },
  {
    title: 'more data than the declared size in a big entry',
    zip: () => writeZip([{ name: 'a', packed: packZeros(2), method: 8, bytes: 100_000 }]),
    code: 'size_mismatch',
  },
  {
    title: 'less packed data than the declared size',
    zip: () => writeZip([{ name: 'a', packed, method: 8, bytes: 501 }]),
    code: 'size_mismatch',
  },
  {
    title: 'an entry that declares no data and has some',
    zip: () => writeZip([{ name: 'a', packed, method: 8, bytes: 0 }]),
    code: 'size_mismatch',
  },
  {
    title: 'stored data of another size',
    zip: () => writeZip([{ name: 'a', data: 'four', bytes: 3 }]),
    code: 'size_mismatch',
  },
  {
    title: 'a wrong CRC',
    zip: () => writeZip([{ name: 'a', data: 'four', crc: 7 }]),
    code: 'bad_crc',
    entry: 'a',
  },
  {
    title: 'a wrong CRC of packed data',
    zip: () => writeZip([{ name: 'a', data: 'four', method: 8, crc: 7 }]),
    code: 'bad_crc',
  },
  {
    title: 'packed data that is damaged',
    zip: () => writeZip([{ name: 'a', packed: bytes('\xff'.repeat(20)), method: 8, bytes: 9 }]),
    code: 'bad_data',
  },
  {
    title: 'packed data that is cut',
    zip: () => writeZip([{ name: 'a', packed: cut(packed, 0, 5), method: 8, bytes: 500 }]),
    code: 'bad_data',
  },
  {
    title: 'packed data of a big entry that is cut',
    zip: () =>
      writeZip([{ name: 'a', packed: cut(packZeros(1), 0, 900), method: 8, bytes: 2 ** 20 }]),
    code: 'bad_data',
  },
  {
    title: 'bytes hidden behind the packed data',
    zip: () =>
      writeZip([
        {
          name: 'a',
          packed: Buffer.concat([packed, bytes('hidden')]),
          method: 8,
          data: 'clay '.repeat(100),
        },
      ]),
    code: 'bad_data',
  },
  {
    title: 'bytes hidden behind the packed data of a big entry',
    zip: () =>
      writeZip([
        {
          name: 'a',
          packed: Buffer.concat([packZeros(1), Buffer.alloc(300_000)]),
          method: 8,
          data: Buffer.alloc(1024 * 1024),
        },
      ]),
    code: 'bad_data',
  },
  {
    title: 'another name in the local header',
    zip: () => writeZip([{ name: 'good.py', local: { name: bytes('evil.py') } }]),
    code: 'header_mismatch',
    entry: 'good.py',
  },
  {
    title: 'another method in the local header',
    zip: () => writeZip([{ ...init, local: { method: 8 } }]),
    code: 'header_mismatch',
  },
  {
    title: 'another size in the local header',
    zip: () => writeZip([{ ...init, local: { bytes: 3 } }]),
    code: 'header_mismatch',
  },
  {
    title: 'another CRC in the local header',
    zip: () => writeZip([{ ...init, local: { crc: 3 } }]),
    code: 'header_mismatch',
  },
  {
    title: 'encryption only in the local header',
    zip: () => writeZip([{ ...init, local: { flags: 1 } }]),
    code: 'header_mismatch',
  },
  {
    title: 'no local header at the offset',
    zip: () => writeZip([init, { name: 'a', offset: 5 }]),
    code: 'overlap',
  },
  {
    title: 'no local header at a free offset',
    zip: () =>
      writeZip([init, { name: 'a', data: 'x'.repeat(90), packedBytes: 9, bytes: 9, offset: 85 }]),
    code: 'header_mismatch',
  },
  {
    title: 'a data descriptor with another size',
    zip: () => changed(writeZip([{ ...init, descriptor: 'signed' }]), 30 + 11 + 25 + 8, 9),
    code: 'header_mismatch',
  },
  {
    title: 'a Unicode path for a plain name',
    zip: () => writeZip([{ name: 'a.py', extra: unicodePath('a.py', '__init__.py') }]),
    code: 'header_mismatch',
    entry: 'a.py',
  },
  {
    title: 'a Unicode path that leaves the archive',
    zip: () => writeZip([{ name: bytes('\x82'), extra: unicodePath('\x82', '../é') }]),
    code: 'path_traversal',
  },
  {
    title: 'a Unicode path only in the local header',
    zip: () => writeZip([{ name: bytes('\x82'), local: { extra: unicodePath('\x82', 'ü') } }]),
    code: 'header_mismatch',
  },
  { title: 'an entry within another', zip: inData, code: 'overlap', entry: 'b' },
  {
    title: 'many entries at one offset',
    zip: () =>
      writeZip([
        { name: 'a', data: 'x' },
        { name: 'b', data: 'x', offset: 0 },
      ]),
    code: 'overlap',
  },
  {
    title: 'an entry within the local extra field of another',
    zip: inExtraField,
    code: 'overlap',
    entry: 'b',
  },
  {
    title: 'data that runs into the directory',
    zip: () => writeZip([{ name: 'a', data: 'x', bytes: 40, packedBytes: 40 }]),
    code: 'overlap',
  },
  {
    title: 'an encrypted entry',
    zip: () => writeZip([{ ...init, flags: 1 }]),
    code: 'encrypted',
    entry: '__init__.py',
  },
  {
    title: 'a strongly encrypted entry',
    zip: () => writeZip([{ ...init, flags: 0x41 }]),
    code: 'encrypted',
  },
  {
    title: 'an AES field without the flag',
    zip: () =>
      writeZip([{ name: 'a', method: 99, extra: bytes('\x01\x99\x07\x00\x02\x00AE\x03\x08\x00') }]),
    code: 'encrypted',
  },
  {
    title: 'an AES field of an encrypted entry',
    zip: () =>
      writeZip([
        { name: 'a', method: 99, flags: 1, extra: bytes('\x01\x99\x07\x00\x02\x00AE\x03\x08\x00') },
      ]),
    code: 'encrypted',
  },
  // 17: bombs by what they declare; those that lie are above and in limits.test.ts
  {
    title: 'an entry of 1 GiB',
    zip: () => writeZip([{ name: 'zeros', packed: packZeros(1024), method: 8, bytes: 2 ** 30 }]),
    code: 'entry_too_big',
    entry: 'zeros',
  },
  {
    title: 'an entry of 100 MiB in 100 kB',
    zip: () =>
      writeZip([{ name: 'zeros', packed: packZeros(100), method: 8, bytes: 100 * 2 ** 20 }]),
    code: 'ratio',
    entry: 'zeros',
  },
  {
    title: 'many small entries that unpack to much',
    zip: () =>
      writeZip(
        Array.from({ length: 20 }, (_, index) => ({
          name: `${index}`,
          data: Buffer.alloc(900_000),
          method: 8,
        })),
      ),
    code: 'ratio',
  },
  {
    title: 'entries that are too big together',
    zip: () =>
      writeZip([
        { name: 'a', data: 'x'.repeat(60) },
        { name: 'b', data: 'x'.repeat(60) },
      ]),
    limits: { unpackedBytes: 100 },
    code: 'total_too_big',
  },
  // also: methods
  {
    title: 'bzip2',
    zip: () => writeZip([{ ...init, method: 12 }]),
    code: 'unsupported_method',
    entry: '__init__.py',
  },
  { title: 'Deflate64', zip: () => writeZip([{ ...init, method: 9 }]), code: 'unsupported_method' },
  {
    title: 'patched data',
    zip: () => writeZip([{ ...init, flags: 0x20 }]),
    code: 'unsupported_method',
  },
]
