import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'

import { path as FFMPEG } from '@ffmpeg-installer/ffmpeg'
import sharp from 'sharp'

import { findEmbedded } from '../src/cli/embedded.ts'
import { readSavedJson } from '../src/cli/read-saved.ts'
import { useFolder } from '../../../test/support/folder.ts'

const run = promisify(execFile)
const folder = useFolder()

const WORKFLOW = { nodes: [{ id: 1, type: 'Größe 高 "🔖"' }], links: [] }
const JSON_TEXT = JSON.stringify(WORKFLOW)
/** As Python writes it. */
const ESCAPED = JSON_TEXT.replaceAll(
  /[^ -~]/g,
  (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
)
const PROMPT = '{"1":{"class_type":"A","inputs":{}}}'

const picture = () => sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } })

/** EXIF data with one entry, and a directory of another one for a comment. */
const exifOf = (tag: number, value: Buffer, isLittle = true): Buffer => {
  const u16 = (number: number) => {
    const bytes = Buffer.alloc(2)
    if (isLittle) bytes.writeUInt16LE(number)
    else bytes.writeUInt16BE(number)
    return bytes
  }
  const u32 = (number: number) => {
    const [low, high] = [u16(number % 65536), u16(Math.floor(number / 65536))]
    return Buffer.concat(isLittle ? [low, high] : [high, low])
  }
  const directory = (...entry: [number, number, number, number]) =>
    Buffer.concat([u16(1), u16(entry[0]), u16(entry[1]), u32(entry[2]), u32(entry[3]), u32(0)])
  const head = Buffer.concat([Buffer.from(isLittle ? 'II' : 'MM'), u16(42), u32(8)])
  return Buffer.concat([
    head,
    directory(0x8769, 4, 1, 26),
    directory(tag, 7, value.length, 44),
    value,
  ])
}

const jpegOf = (exif: Buffer): Buffer => {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(exif.length + 8)
  return Buffer.concat([Buffer.from('ffd8ffe1', 'hex'), length, Buffer.from('Exif\0\0'), exif])
}

const utf16 = (text: string, isLittle: boolean): Buffer => {
  const bytes = Buffer.from(text, 'utf16le')
  return isLittle ? bytes : bytes.swap16()
}

describe('a workflow in what the host has made', () => {
  test('is read from the EXIF of WebP and JPEG, as the host and its packs write it', async () => {
    const tags = [
      { Make: `workflow:${ESCAPED}`, Model: `prompt:${PROMPT}` },
      { ImageDescription: `Workflow:${ESCAPED}` },
      { ImageDescription: `Workflow: ${ESCAPED}` },
    ]
    for (const IFD0 of tags)
      for (const made of [picture().webp(), picture().jpeg()]) {
        const bytes = await made.withExif({ IFD0 }).toBuffer()
        assert.deepEqual(readSavedJson(bytes, 'a'), WORKFLOW)
      }
    const alone = await picture()
      .webp()
      .withExif({ IFD0: { Model: `prompt:${PROMPT}` } })
      .toBuffer()
    assert.deepEqual(readSavedJson(alone, 'a.webp'), JSON.parse(PROMPT))
  })

  test('is read from the comment of a user, in each encoding and order of bytes', () => {
    const both = JSON.stringify({ prompt: JSON.parse(PROMPT) as object, workflow: JSON_TEXT })
    const texts = [JSON_TEXT, `workflow:${JSON_TEXT}`, both, JSON.stringify({ workflow: WORKFLOW })]
    for (const text of texts)
      for (const isLittle of [true, false]) {
        const values = [
          Buffer.from(text),
          Buffer.concat([Buffer.from('ASCII\0\0\0'), Buffer.from(text), Buffer.alloc(2)]),
          Buffer.concat([Buffer.from('UNICODE\0'), utf16(text, true)]),
          Buffer.concat([Buffer.from('UNICODE\0'), utf16(text, false)]),
          Buffer.concat([Buffer.from('UNICODE\0'), utf16(`\ufeff${text}`, false)]),
        ]
        for (const value of values) {
          const bytes = jpegOf(exifOf(0x9286, value, isLittle))
          assert.deepEqual(readSavedJson(bytes, 'a.jpg'), WORKFLOW, value.toString('latin1', 0, 20))
        }
      }
  })

  test('is read from the tags of an MP4, and from its comment', async () => {
    const source = ['-f', 'lavfi', '-i', 'color=red:s=16x16:d=0.1', '-y']
    const cases = [
      [
        '-movflags',
        'use_metadata_tags',
        '-metadata',
        `workflow=${JSON_TEXT}`,
        '-metadata',
        `prompt=${PROMPT}`,
      ],
      ['-metadata', `comment=${JSON.stringify({ prompt: PROMPT, workflow: JSON_TEXT })}`],
      [
        '-movflags',
        'use_metadata_tags+faststart',
        '-metadata',
        `comment=${JSON.stringify({ workflow: WORKFLOW })}`,
      ],
    ]
    for (const [index, tags] of cases.entries()) {
      const file = join(folder, `${index}.mp4`)
      await run(FFMPEG, [...source, ...tags, file])
      assert.deepEqual(readSavedJson(await readFile(file), file), WORKFLOW, tags.join(' '))
    }
    const bare = join(folder, 'bare.mp4')
    await run(FFMPEG, [...source, bare])
    assert.equal(findEmbedded(await readFile(bare)), null)
  })

  test('is read from the tags of WebM and FLAC', async () => {
    const [film, sound] = ['color=red:s=16x16:d=0.1', 'sine=d=0.1']
    for (const [name, source] of [
      ['tags.webm', film],
      ['tags.flac', sound],
    ] as const) {
      const file = join(folder, name)
      const tags = ['-metadata', `workflow=${JSON_TEXT}`, '-metadata', `prompt=${PROMPT}`]
      await run(FFMPEG, ['-f', 'lavfi', '-i', source, '-y', ...tags, file])
      const bytes = await readFile(file)
      assert.deepEqual(readSavedJson(bytes, file), WORKFLOW)
      for (let end = 12; end < bytes.length; end += 7) findEmbedded(bytes.subarray(0, end))
    }
    for (const empty of [
      '1a45dfa3',
      '1a45dfa3ff',
      '1a45dfa318538067ff1254c367ff',
      '664c6143',
      '664c6143040000ff',
    ])
      assert.equal(findEmbedded(Buffer.from(empty, 'hex')), null)
  })

  test('is none where there is no such text, and nowhere beyond the end of a file that is cut or lies', async () => {
    const whole = await picture()
      .webp()
      .withExif({ IFD0: { Make: `workflow:${JSON_TEXT}` } })
      .toBuffer()
    const wrong = [
      await picture().jpeg().toBuffer(),
      await picture().webp().toBuffer(),
      await picture()
        .withExif({ IFD0: { Make: 'a camera' } })
        .jpeg()
        .toBuffer(),
      Buffer.from('GIF89a'),
      Buffer.from('ffd8ff', 'hex'),
      Buffer.from('ffd8ffe10000457869660000', 'hex'),
      jpegOf(Buffer.from('II*\0\xff\xff\xff\xff', 'latin1')),
      jpegOf(exifOf(0x8769, Buffer.alloc(8))),
      Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBP'), Buffer.alloc(8 * 200_000)]),
      Buffer.from('\0\0\0\x0cftypisom\0\0\0\x01moov\xff\xff\xff\xff\xff\xff\xff\xff', 'latin1'),
      Buffer.from('\0\0\0\x0cftypisom\0\0\0\x02moov', 'latin1'),
    ]
    for (const bytes of wrong) assert.equal(findEmbedded(bytes), null)
    for (let end = 12; end < whole.length; end += 7) findEmbedded(whole.subarray(0, end))
    assert.equal(findEmbedded(Buffer.from(JSON_TEXT)), undefined)
  })
})
