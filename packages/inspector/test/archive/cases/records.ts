import { writeZip } from '../../../../../test/support/zip-writer.ts'
import { bytes, changed, cut, init, rejected } from './case.ts'
import type { RejectionCase } from './case.ts'

/** Records around the entries: rows 15, 16 and 18. */
export const recordCases: RejectionCase[] = [
  ...rejected('prepended_data', {
    'a script before the archive': () => writeZip([init], { before: bytes('#!/bin/sh\nexit\n') }),
    'a script before the archive that offsets do not count': () =>
      writeZip([init], { before: bytes('#!/bin/sh\nexit\n'), countsBefore: false }),
    'an archive before the archive': () =>
      writeZip([init], { before: writeZip([{ name: 'other.py' }]) }),
    'an archive before the archive that offsets do not count': () =>
      writeZip([init], { before: writeZip([{ name: 'other.py' }]), countsBefore: false }),
    'data before a zip64 record that it does not count': () =>
      writeZip([init], { before: writeZip([init]), countsBefore: false, zip64: 'needed' }),
    'data before an archive without entries': () =>
      writeZip([], { before: writeZip([init]).subarray(0, 40), countsBefore: false }),
  }),
  ...rejected('trailing_data', {
    'a byte after the end record': () => writeZip([init], { after: bytes('\0') }),
    'much data after the end record': () => writeZip([init], { after: Buffer.alloc(60_000) }),
    'a comment above 1 KiB': () => writeZip([init], { comment: 'c'.repeat(1025) }),
  }),
  ...rejected('ambiguous_end', {
    'a second end record as comment': () => writeZip([init], { comment: writeZip([]) }),
    'an archive as comment': () => writeZip([init], { comment: writeZip([{ name: 'other.py' }]) }),
  }),
  ...rejected('truncated', {
    'a broken end record as comment': () =>
      writeZip([init], { comment: bytes(`PK\x05\x06${'x'.repeat(30)}`) }),
    'a few bytes of a zip': () => bytes('PK\x03\x04'),
    'an archive without its end': () => cut(writeZip([init]), 0, -23),
    'an archive without its last byte': () => cut(writeZip([init]), 0, -1),
    'a comment that is cut': () => cut(writeZip([init], { comment: 'comment' }), 0, -3),
  }),
  ...rejected('malformed', {
    'data between directory and end record': () => writeZip([init], { beforeEnd: bytes('hidden') }),
    'more entries than the end record says': () => writeZip([init, { name: 'a' }], { entries: 1 }),
    'fewer entries than the end record says': () =>
      writeZip([{ name: 'a', comment: 'c'.repeat(99) }], { entries: 2 }),
    'entries where the end record says none': () => writeZip([init], { entries: 0 }),
    'an archive without its beginning': () => cut(writeZip([init]), 9),
    'a zip64 record that contradicts the plain one': () =>
      writeZip([init], { zip64: 'spare', zip64Entries: 2 }),
    'a zip64 record of another length': () =>
      changed(writeZip([init], { zip64: 'needed' }), -22 - 20 - 52, 99),
    'a zip64 number beyond all sizes': () =>
      changed(writeZip([init], { zip64: 'needed' }), -22 - 5, 255),
    'a zip64 locator that points elsewhere': () =>
      changed(writeZip([init], { zip64: 'needed' }), -22 - 11, 1),
    'a directory that begins elsewhere': () => changed(writeZip([init]), -6, 0x60),
    'records that are no directory': () => changed(writeZip([init]), 30 + 11 + 25, 0),
    'a zip64 size without its field': () => writeZip([{ ...init, bytes: 0xffffffff }]),
  }),
  ...rejected('too_many_entries', {
    '200,000 entries': () => writeZip([init], { zip64: 'needed', zip64Entries: 200_000 }),
    '65,535 entries without zip64': () => writeZip([init], { entries: 65_535 }),
    'more entries than the limit': {
      zip: () => writeZip([init, { name: 'a' }]),
      limits: { entries: 1 },
    },
  }),
  ...rejected('directory_too_big', {
    'a directory of comments': {
      zip: () => writeZip([{ ...init, comment: 'c'.repeat(900) }]),
      limits: { directoryBytes: 900 },
    },
  }),
  ...rejected('archive_too_big', {
    'an archive above the limit': { zip: () => writeZip([init]), limits: { archiveBytes: 100 } },
  }),
  ...rejected('not_a_zip', {
    nothing: () => bytes(''),
    text: () => bytes('hello '.repeat(99)),
    'a picture with an end record inside': () => bytes(`GIF89aPK\x05\x06${'x'.repeat(99)}`),
  }),
  ...rejected('multi_disk', {
    'the first of several disks': () => Buffer.concat([bytes('PK\x07\x08'), writeZip([init])]),
    'the last of several disks': () => writeZip([init], { disk: 1 }),
    'a zip64 record of several disks': () =>
      changed(writeZip([init], { zip64: 'needed' }), -22 - 4, 2),
  }),
]
