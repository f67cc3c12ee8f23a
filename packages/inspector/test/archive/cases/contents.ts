import { crc32, deflateRawSync } from 'node:zlib'

import { packZeros, writeZip } from '../../../../../test/support/zip-writer.ts'
import type { EntryForm } from '../../../../../test/support/zip-writer.ts'
import { bytes, changed, cut, init, rejected } from './case.ts'
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
  ...rejected('symlink', {
    'a symbolic link': { zip: () => moded(0o120777), entry: 'x' },
    'a symbolic link by a tool of another system': () =>
      writeZip([{ name: 'x', mode: 0o120777, madeBy: 20 }]),
  }),
  ...rejected('special_file', {
    'a FIFO': () => moded(0o010644),
    'a character device': () => moded(0o020644),
    'a block device': () => moded(0o060644),
    'a socket': () => moded(0o140644),
  }),
  ...rejected('size_mismatch', {
    'more packed data than the declared size': {
      zip: () =>
        writeZip([{ name: 'a', packed, method: 8, bytes: 499, data: 'clay '.repeat(100) }]),
      entry: 'a',
    },
    'more data than the declared size in a big entry': () =>
      writeZip([{ name: 'a', packed: packZeros(2), method: 8, bytes: 100_000 }]),
    'less packed data than the declared size': () =>
      writeZip([{ name: 'a', packed, method: 8, bytes: 501, data: 'clay '.repeat(100) }]),
    'an entry that declares no data and has some': () =>
      writeZip([{ name: 'a', packed, method: 8, bytes: 0 }]),
    'stored data of another size': () => writeZip([{ name: 'a', data: 'four', bytes: 3 }]),
  }),
  ...rejected('bad_crc', {
    'a wrong CRC': { zip: () => writeZip([{ name: 'a', data: 'four', crc: 7 }]), entry: 'a' },
    'a wrong CRC of packed data': () => writeZip([{ name: 'a', data: 'four', method: 8, crc: 7 }]),
  }),
  ...rejected('bad_data', {
    'packed data that is damaged': () =>
      writeZip([{ name: 'a', packed: bytes('\xff'.repeat(20)), method: 8, bytes: 9 }]),
    'packed data that is cut': () =>
      writeZip([{ name: 'a', packed: cut(packed, 0, 5), method: 8, bytes: 500 }]),
    'packed data of a big entry that is cut': () =>
      writeZip([{ name: 'a', packed: cut(packZeros(1), 0, 900), method: 8, bytes: 2 ** 20 }]),
    'bytes hidden behind the packed data': () =>
      writeZip([
        {
          name: 'a',
          packed: Buffer.concat([packed, bytes('hidden')]),
          method: 8,
          data: 'clay '.repeat(100),
        },
      ]),
    'bytes hidden behind the packed data of a big entry': () =>
      writeZip([
        {
          name: 'a',
          packed: Buffer.concat([packZeros(1), Buffer.alloc(300_000)]),
          method: 8,
          data: Buffer.alloc(1024 * 1024),
        },
      ]),
  }),
  ...rejected('header_mismatch', {
    'another name in the local header': {
      zip: () => writeZip([{ name: 'good.py', local: { name: bytes('evil.py') } }]),
      entry: 'good.py',
    },
    'another method in the local header': () => writeZip([{ ...init, local: { method: 8 } }]),
    'another size in the local header': () => writeZip([{ ...init, local: { bytes: 3 } }]),
    'another CRC in the local header': () => writeZip([{ ...init, local: { crc: 3 } }]),
    'encryption only in the local header': () => writeZip([{ ...init, local: { flags: 1 } }]),
    'no local header at a free offset': () =>
      writeZip([init, { name: 'a', data: 'x'.repeat(90), packedBytes: 9, bytes: 9, offset: 85 }]),
    'a data descriptor with another size': () =>
      changed(writeZip([{ ...init, descriptor: 'signed' }]), 30 + 11 + 25 + 8, 9),
    'a Unicode path for a plain name': {
      zip: () => writeZip([{ name: 'a.py', extra: unicodePath('a.py', '__init__.py') }]),
      entry: 'a.py',
    },
    'a Unicode path only in the local header': () =>
      writeZip([{ name: bytes('\x82'), local: { extra: unicodePath('\x82', 'ü') } }]),
  }),
  ...rejected('overlap', {
    'no local header at the offset': () => writeZip([init, { name: 'a', offset: 5 }]),
    'an entry within another': { zip: inData, entry: 'b' },
    'many entries at one offset': () =>
      writeZip([
        { name: 'a', data: 'x' },
        { name: 'b', data: 'x', offset: 0 },
      ]),
    'an entry within the local extra field of another': { zip: inExtraField, entry: 'b' },
    'data that runs into the directory': () =>
      writeZip([{ name: 'a', data: 'x', bytes: 40, packedBytes: 40 }]),
  }),
  ...rejected('path_traversal', {
    'a Unicode path that leaves the archive': () =>
      writeZip([{ name: bytes('\x82'), extra: unicodePath('\x82', '../é') }]),
  }),
  ...rejected('encrypted', {
    'an encrypted entry': { zip: () => writeZip([{ ...init, flags: 1 }]), entry: '__init__.py' },
    'a strongly encrypted entry': () => writeZip([{ ...init, flags: 0x41 }]),
    'an AES field without the flag': () =>
      writeZip([{ name: 'a', method: 99, extra: bytes('\x01\x99\x07\x00\x02\x00AE\x03\x08\x00') }]),
    'an AES field of an encrypted entry': () =>
      writeZip([
        { name: 'a', method: 99, flags: 1, extra: bytes('\x01\x99\x07\x00\x02\x00AE\x03\x08\x00') },
      ]),
  }),
  ...rejected('entry_too_big', {
    'an entry of 1 GiB': {
      zip: () => writeZip([{ name: 'zeros', packed: packZeros(1024), method: 8, bytes: 2 ** 30 }]),
      entry: 'zeros',
    },
  }),
  ...rejected('ratio', {
    'an entry of 100 MiB in 100 kB': {
      zip: () =>
        writeZip([{ name: 'zeros', packed: packZeros(100), method: 8, bytes: 100 * 2 ** 20 }]),
      entry: 'zeros',
    },
    'many small entries that unpack to much': () =>
      writeZip(
        Array.from({ length: 20 }, (_, index) => ({
          name: `${index}`,
          data: Buffer.alloc(900_000),
          method: 8,
        })),
      ),
  }),
  ...rejected('total_too_big', {
    'entries that are too big together': {
      zip: () =>
        writeZip([
          { name: 'a', data: 'x'.repeat(60) },
          { name: 'b', data: 'x'.repeat(60) },
        ]),
      limits: { unpackedBytes: 100 },
    },
  }),
  ...rejected('unsupported_method', {
    bzip2: { zip: () => writeZip([{ ...init, method: 12 }]), entry: '__init__.py' },
    Deflate64: () => writeZip([{ ...init, method: 9 }]),
    'patched data': () => writeZip([{ ...init, flags: 0x20 }]),
  }),
]
