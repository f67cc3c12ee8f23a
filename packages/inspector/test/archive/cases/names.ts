import { writeZip } from '../../../../../test/support/zip-writer.ts'
import { bytes, named, rejected } from './case.ts'
import type { RejectionCase } from './case.ts'

/** Names, alone and against each other: rows 1 to 7 and 20. */
export const nameCases: RejectionCase[] = [
  ...rejected('path_traversal', {
    'a .. segment': { zip: () => named('../a.py'), entry: '../a.py' },
    'a .. segment inside': () => named('a/../../b.py'),
    'a .. segment at the end': () => named('a/..'),
    'a .. segment by backslash': () => named('..\\a.py'),
    'a .. segment by backslash of Windows': () =>
      writeZip([{ name: 'a\\..\\..\\b.py', madeBy: 20 }]),
    'a .. folder': () => writeZip([{ name: '../' }]),
  }),
  ...rejected('path_absolute', {
    'an absolute name': () => named('/etc/passwd'),
    'a drive letter': () => named('C:/a.py'),
    'a UNC name of Windows': () => writeZip([{ name: '\\\\host\\share\\a.py', madeBy: 20 }]),
    'a UNC name': () => named('\\\\host\\share\\a.py'),
  }),
  ...rejected('path_backslash', {
    'a backslash of another system than Windows': () => named('a\\b.py'),
    'a name with both separators': () => writeZip([{ name: 'a\\b/c.py', madeBy: 20 }]),
  }),
  ...rejected('path_control', {
    NUL: { zip: () => named('a.py\0.png'), entry: String.raw`\u0000` },
    'a line feed': () => named('a\nb.py'),
    'an escape without the UTF-8 flag': () => named(bytes('\x1b[2J')),
    DEL: () => named('a\x7f.py'),
    'a C1 control': () => named('a\u009b.py'),
  }),
  ...rejected('duplicate_name', {
    'two entries with one name': {
      zip: () => writeZip([{ name: 'a' }, { name: 'a' }]),
      entry: 'a',
    },
    'two folders with one name': () => writeZip([{ name: 'a/' }, { name: 'a/' }]),
    'one name by both separators': () =>
      writeZip([{ name: 'a/b' }, { name: 'a\\b', madeBy: (10 << 8) | 20 }]),
    'one name with and without the UTF-8 flag': () =>
      writeZip([{ name: 'é.py' }, { name: Buffer.from('é.py') }]),
  }),
  ...rejected('name_collision', {
    'names that differ by case, with other contents': {
      zip: () =>
        writeZip([
          { name: 'Cup.py', data: '1' },
          { name: 'cup.py', data: '2' },
        ]),
      entry: 'cup.py',
    },
    'names that differ by Unicode form, with other contents': () =>
      writeZip([
        { name: 'caf\u00e9.py', data: '1' },
        { name: 'cafe\u0301.py', data: '22' },
      ]),
    // Any four bytes can be found for a CRC; these two texts have the same.
    'names that differ by case, contents that only look equal by size and CRC': () =>
      writeZip([
        { name: 'A.py', data: 'plumless' },
        { name: 'a.py', data: 'buckeroo' },
      ]),
  }),
  ...rejected('file_is_folder', {
    'a file that is a folder': {
      zip: () => writeZip([{ name: 'a' }, { name: 'a/b' }]),
      entry: 'a/b',
    },
    'a folder that is a file': () => writeZip([{ name: 'a/' }, { name: 'a' }]),
    'a folder before its file': () => writeZip([{ name: 'a/b/c' }, { name: 'a/b' }]),
    'a file that is a folder in another case': () => writeZip([{ name: 'A' }, { name: 'a/b' }]),
    'a file with the type of a folder': () => writeZip([{ name: 'a', mode: 0o040755 }]),
    'a file with the folder bit of MS-DOS': () =>
      writeZip([{ name: 'a', mode: 0, madeBy: 20, attributes: 0x10 }]),
  }),
  ...rejected('folder_with_data', {
    'a folder with data': () => writeZip([{ name: 'a/', data: 'x' }]),
  }),
  ...rejected('path_too_long', {
    'a path of 513 bytes': () => named(`${'é'.repeat(127)}/`.repeat(2) + 'x'.repeat(3)),
    '21 segments': () => named(`${'a/'.repeat(20)}b`),
    'a segment of 256 bytes': () => named('é'.repeat(128)),
  }),
  ...rejected('path_encoding', {
    'a name that is not UTF-8 as its flag says': () =>
      writeZip([{ name: bytes('a\xff.py'), flags: 0x800 }]),
  }),
  ...rejected('path_segment', {
    'an empty name': () => named(''),
    'an empty segment': () => named('a//b.py'),
    'a . segment': () => named('./a.py'),
  }),
  ...rejected('path_reserved', {
    'a trailing dot': () => named('a./b.py'),
    'a trailing blank': () => named('b.py '),
    'a colon': () => named('a.py:stream'),
    'a drive without a slash': () => named('c:a.py'),
    ...Object.fromEntries(
      [...'<>:"|?*'].map((kept) => [`the character ${kept}`, () => named(`a${kept}b/c.txt`)]),
    ),
    ...Object.fromEntries(
      [
        'con',
        'PRN.txt',
        'a/aux.py',
        'nul/a.py',
        'com1',
        'LPT9.log',
        'COM¹.txt',
        'conin$',
        'nul .txt',
      ].map((name) => [`the device name ${name}`, () => named(name)]),
    ),
  }),
]
