import { writeZip } from '../../../support/zip-writer.ts'
import { bytes, changed, cut, init } from './case.ts'
import type { RejectionCase } from './case.ts'

/** What is around the entries: rows 15, 16 and 18. */
export const recordCases: RejectionCase[] = [
  // 15 and 16: around the records
  {
    title: 'a script before the archive',
    zip: () => writeZip([init], { before: bytes('#!/bin/sh\nexit\n') }),
    code: 'prepended_data',
  },
  {
    title: 'a script before the archive that offsets do not count',
    zip: () => writeZip([init], { before: bytes('#!/bin/sh\nexit\n'), countsBefore: false }),
    code: 'prepended_data',
  },
  {
    title: 'an archive before the archive',
    zip: () => writeZip([init], { before: writeZip([{ name: 'other.py' }]) }),
    code: 'prepended_data',
  },
  {
    title: 'an archive before the archive that offsets do not count',
    zip: () => writeZip([init], { before: writeZip([{ name: 'other.py' }]), countsBefore: false }),
    code: 'prepended_data',
  },
  {
    title: 'data before a zip64 record that it does not count',
    zip: () => writeZip([init], { before: writeZip([init]), countsBefore: false, zip64: 'needed' }),
    code: 'prepended_data',
  },
  {
    title: 'data before an archive without entries',
    zip: () => writeZip([], { before: writeZip([init]).subarray(0, 40), countsBefore: false }),
    code: 'prepended_data',
  },
  {
    title: 'a byte after the end record',
    zip: () => writeZip([init], { after: bytes('\0') }),
    code: 'trailing_data',
  },
  {
    title: 'much data after the end record',
    zip: () => writeZip([init], { after: Buffer.alloc(60_000) }),
    code: 'trailing_data',
  },
  {
    title: 'a comment above 1 KiB',
    zip: () => writeZip([init], { comment: 'c'.repeat(1025) }),
    code: 'trailing_data',
  },
  {
    title: 'a second end record as comment',
    zip: () => writeZip([init], { comment: writeZip([]) }),
    code: 'ambiguous_end',
  },
  {
    title: 'an archive as comment',
    zip: () => writeZip([init], { comment: writeZip([{ name: 'other.py' }]) }),
    code: 'ambiguous_end',
  },
  {
    title: 'a broken end record as comment',
    zip: () => writeZip([init], { comment: bytes(`PK\x05\x06${'x'.repeat(30)}`) }),
    code: 'truncated',
  },
  {
    title: 'data between directory and end record',
    zip: () => writeZip([init], { beforeEnd: bytes('hidden') }),
    code: 'malformed',
  },
  // 18: numbers
  {
    title: '200,000 entries',
    zip: () => writeZip([init], { zip64: 'needed', zip64Entries: 200_000 }),
    code: 'too_many_entries',
  },
  {
    title: '65,535 entries without zip64',
    zip: () => writeZip([init], { entries: 65_535 }),
    code: 'too_many_entries',
  },
  {
    title: 'more entries than the limit',
    zip: () => writeZip([init, { name: 'a' }]),
    limits: { entries: 1 },
    code: 'too_many_entries',
  },
  {
    title: 'more entries than the end record says',
    zip: () => writeZip([init, { name: 'a' }], { entries: 1 }),
    code: 'malformed',
  },
  {
    title: 'fewer entries than the end record says',
    zip: () => writeZip([{ name: 'a', comment: 'c'.repeat(99) }], { entries: 2 }),
    code: 'malformed',
  },
  {
    title: 'entries where the end record says none',
    zip: () => writeZip([init], { entries: 0 }),
    code: 'malformed',
  },
  {
    title: 'a directory of comments',
    zip: () => writeZip([{ ...init, comment: 'c'.repeat(900) }]),
    limits: { directoryBytes: 900 },
    code: 'directory_too_big',
  },
  {
    title: 'an archive above the limit',
    zip: () => writeZip([init]),
    limits: { archiveBytes: 100 },
    code: 'archive_too_big',
  },
  // also: no zip, cut, several disks, records that contradict
  { title: 'nothing', zip: () => bytes(''), code: 'not_a_zip' },
  { title: 'text', zip: () => bytes('hello '.repeat(99)), code: 'not_a_zip' },
  {
    title: 'a picture with an end record inside',
    zip: () => bytes(`GIF89aPK\x05\x06${'x'.repeat(99)}`),
    code: 'not_a_zip',
  },
  { title: 'a few bytes of a zip', zip: () => bytes('PK\x03\x04'), code: 'truncated' },
  {
    title: 'an archive without its end',
    zip: () => cut(writeZip([init]), 0, -23),
    code: 'truncated',
  },
  {
    title: 'an archive without its last byte',
    zip: () => cut(writeZip([init]), 0, -1),
    code: 'truncated',
  },
  {
    title: 'a comment that is cut',
    zip: () => cut(writeZip([init], { comment: 'comment' }), 0, -3),
    code: 'truncated',
  },
  {
    title: 'an archive without its beginning',
    zip: () => cut(writeZip([init]), 9),
    code: 'malformed',
  },
  {
    title: 'the first of several disks',
    zip: () => Buffer.concat([bytes('PK\x07\x08'), writeZip([init])]),
    code: 'multi_disk',
  },
  {
    title: 'the last of several disks',
    zip: () => writeZip([init], { disk: 1 }),
    code: 'multi_disk',
  },
  {
    title: 'a zip64 record of several disks',
    zip: () => changed(writeZip([init], { zip64: 'needed' }), -22 - 4, 2),
    code: 'multi_disk',
  },
  {
    title: 'a zip64 record that contradicts the plain one',
    zip: () => writeZip([init], { zip64: 'spare', zip64Entries: 2 }),
    code: 'malformed',
  },
  {
    title: 'a zip64 record of another length',
    zip: () => changed(writeZip([init], { zip64: 'needed' }), -22 - 20 - 52, 99),
    code: 'malformed',
  },
  {
    title: 'a zip64 number beyond all sizes',
    zip: () => changed(writeZip([init], { zip64: 'needed' }), -22 - 5, 255),
    code: 'malformed',
  },
  {
    title: 'a zip64 locator that points elsewhere',
    zip: () => changed(writeZip([init], { zip64: 'needed' }), -22 - 11, 1),
    code: 'malformed',
  },
  {
    title: 'a directory that begins elsewhere',
    zip: () => changed(writeZip([init]), -6, 0x60),
    code: 'malformed',
  },
  {
    title: 'records that are no directory',
    zip: () => changed(writeZip([init]), 30 + 11 + 25, 0),
    code: 'malformed',
  },
  {
    title: 'a zip64 size without its field',
    zip: () => writeZip([{ ...init, bytes: 0xffffffff }]),
    code: 'malformed',
  },
]
