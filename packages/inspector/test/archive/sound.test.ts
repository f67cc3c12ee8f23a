import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { crc32, inflateRawSync } from 'node:zlib'

import { readArchive } from '../../src/archive/read-archive.ts'
import type { SoundArchive } from '../../src/archive/result.ts'
import { openFileSource } from '../../src/archive/source.ts'
import { writeZip } from '../../../../test/support/zip-writer.ts'
import { bytes, init } from './cases/case.ts'
import { makeBytesSource } from './sources.ts'

const readSound = async (zip: Uint8Array): Promise<SoundArchive> => {
  const result = await readArchive(makeBytesSource(zip))
  if (result.verdict !== 'sound') throw new Error(result.message)
  return result
}

const pathsOf = ({ entries }: SoundArchive): string[] => entries.map(({ path }) => path)

describe('an archive of a real tool', () => {
  // The same three files, made once by each tool; `folder` is what code hosts put around them.
  const tools = [
    { file: 'python-zipfile.zip', modes: [0o644, 0o644, 0o755] },
    { file: 'python-zipfile-streamed.zip', modes: [0o644, 0o644, 0o755] },
    { file: 'python-zipfile-zip64.zip', modes: [0o644, 0o644, 0o755] },
    { file: 'info-zip.zip', modes: [0o644, 0o644, 0o755] },
    { file: 'info-zip-piped.zip', modes: [0o644, 0o644, 0o755] },
    { file: 'git-archive.zip', modes: [undefined, undefined, 0o755] },
    { file: 'git-archive-folder.zip', modes: [undefined, undefined, 0o755], folder: 'cups-main/' },
  ]
  const contents = [
    ['__init__.py', 'NODE_CLASS_MAPPINGS = {}\n'],
    ['nodes/cup.py', `RETURN_TYPES = (${'"IMAGE", '.repeat(5)}"IMAGE")\n`],
    ['run.sh', '#!/bin/sh\nexit 0\n'],
  ] as const
  for (const { file, modes, folder = '' } of tools)
    test(`is sound: ${file}`, async () => {
      const path = new URL(`../fixtures/archives/${file}`, import.meta.url)
      const source = await openFileSource(path.pathname)
      const result = await readArchive(source).finally(source.close)
      const archive = await readFile(path)
      assert.equal(result.verdict, 'sound', JSON.stringify(result))
      for (const { place, text } of result.entries) {
        const { dataOffset = 0, packedBytes = 0, isDeflated } = place ?? {}
        const packed = archive.subarray(dataOffset, dataOffset + packedBytes)
        assert.deepEqual(new Uint8Array(isDeflated ? inflateRawSync(packed) : packed), text)
      }
      assert.deepEqual(
        result.entries.map(({ place: _place, ...entry }) => entry),
        contents.map(([path, text], index) => ({
          path: folder + path,
          bytes: text.length,
          sha256: createHash('sha256').update(text).digest('hex'),
          head: new Uint8Array(Buffer.from(text)),
          text: new Uint8Array(Buffer.from(text)),
          mode: modes[index],
          executable: path === 'run.sh',
        })),
      )
      assert.deepEqual([result.facts, result.unpackedBytes], [[], 112])
      assert.equal(result.bytes, source.size)
    })
})

describe('a sound archive', () => {
  const forms: [string, Buffer][] = [
    ['a data descriptor', writeZip([{ ...init, method: 8, descriptor: 'signed' }])],
    ['a data descriptor without signature', writeZip([{ ...init, descriptor: 'bare' }])],
    ['a zip64 data descriptor', writeZip([{ ...init, descriptor: 'zip64' }])],
    ['zip64 sizes', writeZip([{ ...init, zip64: true }])],
    ['a zip64 end record', writeZip([init], { zip64: 'needed' })],
    ['a zip64 end record that nobody needs', writeZip([init], { zip64: 'spare' })],
    ['a commit id as comment', writeZip([init], { comment: 'c0ffee'.repeat(6) })],
    ['a comment of 1 KiB', writeZip([init], { comment: 'c'.repeat(1024) })],
    ['folder entries', writeZip([{ name: 'nodes/', mode: 0o040755 }, init])],
    ['folder entries of MS-DOS', writeZip([{ name: 'nodes/', mode: 0, attributes: 0x10 }, init])],
    ['a comment of an entry', writeZip([{ ...init, comment: 'made by hand' }])],
    ['unknown extra fields', writeZip([{ ...init, extra: bytes('\x55\x55\x02\x00ab') }])],
    [
      'times only in the local header',
      writeZip([{ ...init, local: { extra: bytes('UT\x05\x00\x01abcd') } }]),
    ],
    ['no modes', writeZip([{ ...init, mode: 0, madeBy: 20 }])],
    [
      'no data where deflate is declared',
      writeZip([init, { name: 'empty', method: 8, packed: bytes('') }]),
    ],
    ['a stored file of 0 bytes', writeZip([init, { name: 'empty' }])],
    [
      'one highly repetitive file below 1 MiB',
      writeZip([init, { name: 'zeros', data: Buffer.alloc(2 ** 20 - 99), method: 8 }]),
    ],
    ['entries out of order', writeZip([{ name: 'z' }, init])],
  ]
  for (const [title, zip] of forms)
    test(`may have ${title}`, async () => {
      const { entries } = await readSound(zip)
      const found = entries.find(({ path }) => path === '__init__.py')
      assert.equal(Buffer.from(found?.text ?? []).toString(), init.data)
    })

  test('may be empty', async () => {
    assert.deepEqual((await readSound(writeZip([]))).entries, [])
  })

  test('lists its files, not its folders, sorted by code unit', async () => {
    const names = ['b/', 'b/x.py', 'a.py', 'B.py', 'é.py', '🏺.py', '\uff5e.py']
    const result = await readSound(writeZip(names.map((name) => ({ name }))))
    assert.deepEqual(pathsOf(result), ['B.py', 'a.py', 'b/x.py', 'é.py', '🏺.py', '\uff5e.py'])
  })

  test('has "/" between folders where Windows wrote "\\", and the places of the published bytes', async () => {
    const forms = ['pack\\', 'pack\\__init__.py', 'pack\\nodes\\cup.py', 'readme.md'] as const
    for (const system of [0, 10]) {
      const madeBy = (system << 8) | 20
      const zip = writeZip(forms.map((name) => ({ name, mode: 0, madeBy, data: name.slice(5) })))
      const result = await readSound(zip)
      assert.deepEqual(pathsOf(result), ['pack/__init__.py', 'pack/nodes/cup.py', 'readme.md'])
      for (const { text, place } of result.entries) {
        const at = place?.dataOffset ?? 0
        assert.deepEqual(new Uint8Array(zip.subarray(at, at + (place?.packedBytes ?? 0))), text)
      }
    }
  })

  test('may hold long and deep paths up to the limits', async () => {
    const names = [`${'s'.repeat(255)}/${'t'.repeat(255)}`, `${'a/'.repeat(19)}b`]
    assert.equal((await readSound(writeZip(names.map((name) => ({ name }))))).entries.length, 2)
  })

  test('reads names without the UTF-8 flag as code page 437', async () => {
    const name = Buffer.from([0x82, 0x9a, 0xe1, 0xfe, 0xff, 0x2e, 0x70, 0x79])
    assert.deepEqual(pathsOf(await readSound(writeZip([{ name }]))), ['éÜß■\u00a0.py'])
  })

  test('takes the Unicode path of a name that is not ASCII, and only if it belongs to it', async () => {
    const field = (name: string): Buffer => {
      const head = Buffer.from([0x75, 0x70, 5 + 2, 0, 1, 0, 0, 0, 0])
      head.writeUInt32LE(crc32(bytes(name)), 5)
      return Buffer.concat([head, Buffer.from('ё')])
    }
    const extra = field('\xf1')
    const belongs = { name: bytes('\xf1'), extra, local: { extra } }
    assert.deepEqual(pathsOf(await readSound(writeZip([belongs]))), ['ё'])
    const renamed = { name: bytes('\xf2'), extra, local: { extra } }
    assert.deepEqual(pathsOf(await readSound(writeZip([renamed]))), ['≥'])
  })

  test('ignores copies whose names differ only by case or Unicode form, and says so', async () => {
    const data = 'NODE = 1\n'
    const names = ['a/Cup.py', 'a/cup.py', 'A/CUP.py', 'caf\u00e9.py', 'cafe\u0301.py']
    const result = await readSound(writeZip(names.map((name) => ({ name, data }))))
    assert.deepEqual(pathsOf(result), ['a/Cup.py', 'caf\u00e9.py'])
    assert.deepEqual(result.facts, [
      { kind: 'name_collision', path: 'a/cup.py', kept: 'a/Cup.py' },
      { kind: 'name_collision', path: 'A/CUP.py', kept: 'a/Cup.py' },
      { kind: 'name_collision', path: 'cafe\u0301.py', kept: 'caf\u00e9.py' },
    ])
  })

  test('names archives within it by their bytes and does not open them', async () => {
    const inner = writeZip([{ name: '../../evil.py' }])
    const rar = bytes('Rar!\x1a\x07\x01\x00')
    const result = await readSound(
      writeZip([init, { name: 'a.bin', data: inner }, { name: 'b.png', data: rar }]),
    )
    assert.deepEqual(result.facts, [
      { kind: 'nested_archive', path: 'a.bin', format: 'zip' },
      { kind: 'nested_archive', path: 'b.png', format: 'rar' },
    ])
    assert.deepEqual(pathsOf(result), ['__init__.py', 'a.bin', 'b.png'])
  })

  test('keeps the text of text kinds, and the first 4 KiB of all', async () => {
    const data = 'clay\n'.repeat(2000)
    const result = await readSound(
      writeZip([
        { name: 'a.MD', data, method: 8 },
        { name: 'b.bin', data },
      ]),
    )
    const [text, binary] = result.entries
    assert.deepEqual([text?.text?.length, text?.head.length], [10_000, 4096])
    assert.deepEqual([binary?.text, binary?.head.length, binary?.bytes], [undefined, 4096, 10_000])
    assert.equal(text?.sha256, binary?.sha256)
  })

  test('reads big packed entries in pieces', async () => {
    const data = Buffer.from(Array.from({ length: 800_000 }, (_, index) => index * index * 31))
    const [entry] = (await readSound(writeZip([{ name: 'a.bin', data, method: 8 }]))).entries
    assert.equal(entry?.sha256, createHash('sha256').update(data).digest('hex'))
  })
})
