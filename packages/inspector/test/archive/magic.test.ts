import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { detectKind, isUncheckedBytecode } from '../../src/archive/magic.ts'
import { writeZip } from '../../../../test/support/zip-writer.ts'
import { bytes } from './cases/case.ts'

/** Bytes with others at their places. */
const at = (length: number, ...parts: [number, string | number[]][]): Buffer => {
  const all = Buffer.alloc(length)
  for (const [place, part] of parts) all.set(typeof part === 'string' ? bytes(part) : part, place)
  return all
}

const pe = (headerAt: number, length = 4096): Buffer =>
  at(length, [0, 'MZ'], [0x3c, [headerAt & 0xff, headerAt >> 8, 0, 0]], [headerAt, 'PE\0\0'])

const bytecode = (word: number, flags: number, headerBytes = 16): Buffer =>
  at(40, [0, [word & 0xff, word >> 8, 13, 10, flags]], [headerBytes, [0xe3]])

const tar = (text: string, magic = 'ustar\x0000'): Buffer => {
  const header = at(1024, [0, text], [100, '0000644\0'], [148, ' '.repeat(8)], [257, magic])
  const sum = header.subarray(0, 512).reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return header
}

describe('the kind of a file by its bytes', () => {
  const kinds: [string, Buffer, string | undefined][] = [
    ['a Windows program', pe(0x80), 'pe'],
    ['a Windows program with its header at the end of the head', pe(4092), 'pe'],
    ['a DOS program without a PE header', at(4096, [0, 'MZ'], [0x3c, [0x80]]), undefined],
    ['text that begins with MZ', bytes('MZ is no program. '.repeat(300)), undefined],
    ['MZ alone', bytes('MZ'), undefined],
    ['ELF of 64 bits', at(64, [0, '\x7fELF\x02\x01\x01']), 'elf'],
    ['ELF of 32 bits, big end first', at(64, [0, '\x7fELF\x01\x02\x01']), 'elf'],
    ['ELF of no class', at(64, [0, '\x7fELF\x07\x01\x01']), undefined],
    ['Mach-O of 64 bits', at(64, [0, [0xcf, 0xfa, 0xed, 0xfe, 7, 0, 0, 1]], [12, [2]]), 'mach-o'],
    ['Mach-O of 32 bits', at(64, [0, [0xce, 0xfa, 0xed, 0xfe, 7]], [12, [6]]), 'mach-o'],
    [
      'Mach-O, big end first',
      at(64, [0, [0xfe, 0xed, 0xfa, 0xce, 0, 0, 0, 18]], [15, [2]]),
      'mach-o',
    ],
    ['Mach-O of no file type', at(64, [0, [0xcf, 0xfa, 0xed, 0xfe]], [12, [99]]), undefined],
    ['fat Mach-O', at(64, [0, [0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 2, 1, 0, 0, 7]]), 'mach-o'],
    [
      'fat Mach-O of 64 bits',
      at(64, [0, [0xca, 0xfe, 0xba, 0xbf, 0, 0, 0, 1, 1, 0, 0, 12]]),
      'mach-o',
    ],
    ['a Java class', at(64, [0, [0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52, 0, 30]]), undefined],
    [
      'a Java class of the first version',
      at(64, [0, [0xca, 0xfe, 0xba, 0xbe, 0, 3, 0, 45]]),
      undefined,
    ],
    ['bytecode of Python 3.13', bytecode(3571, 0), 'python-bytecode'],
    ['bytecode by unchecked hash', bytecode(3495, 1), 'python-bytecode'],
    ['bytecode by checked hash', bytecode(3495, 3), 'python-bytecode'],
    ['bytecode of Python 3.6', bytecode(3379, 200, 12), 'python-bytecode'],
    ['bytecode of Python 2.7', bytecode(62_211, 200, 8), 'python-bytecode'],
    ['bytecode with flags that Python rejects', bytecode(3495, 4), undefined],
    ['bytecode of an unknown word', bytecode(4711, 0), undefined],
    ['bytecode without code', at(40, [0, [3495 & 0xff, 3495 >> 8, 13, 10]]), undefined],
    ['a zip', writeZip([{ name: 'a' }]), 'zip'],
    ['an empty zip', writeZip([]), 'zip'],
    ['7z', bytes('7z\xbc\xaf\x27\x1c\0\x04'), '7z'],
    ['RAR 4', bytes('Rar!\x1a\x07\x00'), 'rar'],
    ['RAR 5', bytes('Rar!\x1a\x07\x01\x00'), 'rar'],
    ['text that begins with Rar!', bytes('Rar! no'), undefined],
    ['gzip', gzipSync('x'), 'gzip'],
    ['gzip with a reserved flag', at(20, [0, [0x1f, 0x8b, 8, 0x80]]), undefined],
    ['tar', tar('a.py'), 'tar'],
    ['tar without a magic word', tar('a.py', ''), 'tar'],
    [
      'text with the word of tar at its place',
      bytes(`${' '.repeat(257)}ustar${' '.repeat(300)}`),
      undefined,
    ],
    ['zeros', Buffer.alloc(4096), undefined],
    ['PNG', bytes('\x89PNG\r\n\x1a\n\0\0\0\rIHDR'), 'png'],
    ['JPEG', bytes('\xff\xd8\xff\xe0\0\x10JFIF'), 'jpeg'],
    ['WebP', bytes('RIFF\x24\0\0\0WEBPVP8 '), 'webp'],
    ['a sound in RIFF', bytes('RIFF\x24\0\0\0WAVEfmt '), undefined],
    ['GIF', bytes('GIF89a\x01\0'), 'gif'],
    ['Python', bytes('import os\n'), undefined],
    ['nothing', bytes(''), undefined],
  ]
  for (const [title, head, kind] of kinds)
    test(`is ${kind ?? 'unknown'} for ${title}`, () => assert.equal(detectKind(head), kind))

  test('sees a Windows program whose header lies behind the head', () => {
    const whole = pe(9000, 10_000)
    assert.equal(detectKind(whole.subarray(0, 4096), whole.length), 'pe')
    assert.equal(detectKind(whole.subarray(0, 4096), 9003), undefined)
  })

  test('is unknown or the same for every cut of a head', () => {
    for (const [title, head, kind] of kinds)
      for (let length = 0; length < Math.min(head.length, 600); length += 1) {
        const found = detectKind(head.subarray(0, length))
        assert.ok(found === undefined || found === kind, `${title} cut to ${length}: ${found}`)
      }
  })

  test('recognises bytecode that Python loads without checking its source', () => {
    const all = [bytecode(3495, 0), bytecode(3495, 1), bytecode(3495, 3), bytecode(3379, 1, 12)]
    assert.deepEqual(all.map(isUncheckedBytecode), [false, true, false, false])
  })
})
