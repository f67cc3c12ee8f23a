import { writeZip } from '../../../support/zip-writer.ts'
import { bytes, named } from './case.ts'
import type { RejectionCase } from './case.ts'

/** Names, alone and against each other: rows 1 to 7 and 20. */
export const nameCases: RejectionCase[] = [
  // 1 to 4: names
  { title: 'a .. segment', zip: () => named('../a.py'), code: 'path_traversal', entry: '../a.py' },
  { title: 'a .. segment inside', zip: () => named('a/../../b.py'), code: 'path_traversal' },
  { title: 'a .. segment at the end', zip: () => named('a/..'), code: 'path_traversal' },
  { title: 'a .. segment by backslash', zip: () => named('..\\a.py'), code: 'path_traversal' },
  { title: 'a .. folder', zip: () => writeZip([{ name: '../' }]), code: 'path_traversal' },
  { title: 'an absolute name', zip: () => named('/etc/passwd'), code: 'path_absolute' },
  { title: 'a drive letter', zip: () => named('C:/a.py'), code: 'path_absolute' },
  { title: 'a drive without a slash', zip: () => named('c:a.py'), code: 'path_absolute' },
  { title: 'a UNC name', zip: () => named('\\\\host\\share\\a.py'), code: 'path_absolute' },
  { title: 'a backslash', zip: () => named('a\\b.py'), code: 'path_backslash' },
  { title: 'NUL', zip: () => named('a.py\0.png'), code: 'path_control', entry: String.raw`\u0000` },
  { title: 'a line feed', zip: () => named('a\nb.py'), code: 'path_control' },
  {
    title: 'an escape without the UTF-8 flag',
    zip: () => named(bytes('\x1b[2J')),
    code: 'path_control',
  },
  { title: 'DEL', zip: () => named('a\x7f.py'), code: 'path_control' },
  { title: 'a C1 control', zip: () => named('a\u009b.py'), code: 'path_control' },
  // 5 to 7: names against names
  {
    title: 'two entries with one name',
    zip: () => writeZip([{ name: 'a' }, { name: 'a' }]),
    code: 'duplicate_name',
    entry: 'a',
  },
  {
    title: 'two folders with one name',
    zip: () => writeZip([{ name: 'a/' }, { name: 'a/' }]),
    code: 'duplicate_name',
  },
  {
    title: 'one name with and without the UTF-8 flag',
    zip: () => writeZip([{ name: 'é.py' }, { name: Buffer.from('é.py') }]),
    code: 'duplicate_name',
  },
  {
    title: 'names that differ by case, with other contents',
    zip: () =>
      writeZip([
        { name: 'Cup.py', data: '1' },
        { name: 'cup.py', data: '2' },
      ]),
    code: 'name_collision',
    entry: 'cup.py',
  },
  {
    title: 'names that differ by Unicode form, with other contents',
    zip: () =>
      writeZip([
        { name: 'caf\u00e9.py', data: '1' },
        { name: 'cafe\u0301.py', data: '22' },
      ]),
    code: 'name_collision',
  },
  {
    title: 'names that differ by case, contents that only look equal by size and CRC',
    // Any four bytes can be found for a CRC; these two texts have the same.
    zip: () =>
      writeZip([
        { name: 'A.py', data: 'plumless' },
        { name: 'a.py', data: 'buckeroo' },
      ]),
    code: 'name_collision',
  },
  {
    title: 'a file that is a folder',
    zip: () => writeZip([{ name: 'a' }, { name: 'a/b' }]),
    code: 'file_is_folder',
    entry: 'a/b',
  },
  {
    title: 'a folder that is a file',
    zip: () => writeZip([{ name: 'a/' }, { name: 'a' }]),
    code: 'file_is_folder',
  },
  {
    title: 'a folder before its file',
    zip: () => writeZip([{ name: 'a/b/c' }, { name: 'a/b' }]),
    code: 'file_is_folder',
  },
  {
    title: 'a file that is a folder in another case',
    zip: () => writeZip([{ name: 'A' }, { name: 'a/b' }]),
    code: 'file_is_folder',
  },
  {
    title: 'a file with the type of a folder',
    zip: () => writeZip([{ name: 'a', mode: 0o040755 }]),
    code: 'file_is_folder',
  },
  {
    title: 'a file with the folder bit of MS-DOS',
    zip: () => writeZip([{ name: 'a', mode: 0, madeBy: 20, attributes: 0x10 }]),
    code: 'file_is_folder',
  },
  {
    title: 'a folder with data',
    zip: () => writeZip([{ name: 'a/', data: 'x' }]),
    code: 'folder_with_data',
  },
  // 20: lengths
  {
    title: 'a path of 513 bytes',
    zip: () => named(`${'é'.repeat(127)}/`.repeat(2) + 'x'.repeat(3)),
    code: 'path_too_long',
  },
  { title: '21 segments', zip: () => named(`${'a/'.repeat(20)}b`), code: 'path_too_long' },
  { title: 'a segment of 256 bytes', zip: () => named('é'.repeat(128)), code: 'path_too_long' },
  // also: names that no system or only some can hold
  {
    title: 'a name that is not UTF-8 as its flag says',
    zip: () => writeZip([{ name: bytes('a\xff.py'), flags: 0x800 }]),
    code: 'path_encoding',
  },
  { title: 'an empty name', zip: () => named(''), code: 'path_segment' },
  { title: 'an empty segment', zip: () => named('a//b.py'), code: 'path_segment' },
  { title: 'a . segment', zip: () => named('./a.py'), code: 'path_segment' },
  ...[
    'con',
    'PRN.txt',
    'a/aux.py',
    'nul/a.py',
    'com1',
    'LPT9.log',
    'COM¹.txt',
    'conin$',
    'nul .txt',
  ].map((name): RejectionCase => ({
    title: `the device name ${name}`,
    zip: () => named(name),
    code: 'path_reserved',
  })),
  { title: 'a trailing dot', zip: () => named('a./b.py'), code: 'path_reserved' },
  { title: 'a trailing blank', zip: () => named('b.py '), code: 'path_reserved' },
  { title: 'a colon', zip: () => named('a.py:stream'), code: 'path_reserved' },
]
