import { latin, listExifTexts } from './exif.ts'
import { listFlacTags, listMatroskaTags } from './media-tags.ts'

/** A workflow may stand in a picture or video under these names, the better one first. */
const NAMES = ['workflow', 'prompt'] as const
type Texts = Map<string, string>

/** Parts of one file that are looked at: those with metadata come early, and a file may be made of empty ones. */
const PARTS_MAX = 100_000

const begins = (bytes: Uint8Array, text: string, at = 0): boolean =>
  [...text].every((letter, index) => bytes[at + index] === letter.charCodeAt(0))

/** Readers of the containers in which the host and its packs save what they have made. */
const CONTAINERS: readonly {
  is(bytes: Uint8Array): boolean
  read(bytes: Uint8Array): Texts
}[] = [
  { is: (bytes) => begins(bytes, '\x89PNG\r\n\x1a\n'), read: readPng },
  { is: (bytes) => begins(bytes, '\xff\xd8\xff'), read: readJpeg },
  { is: (bytes) => begins(bytes, 'RIFF') && begins(bytes, 'WEBP', 8), read: readWebp },
  { is: (bytes) => begins(bytes, 'ftyp', 4), read: readMp4 },
  {
    is: (bytes) => begins(bytes, '\x1a\x45\xdf\xa3'),
    read: (bytes) => textsOf(listMatroskaTags(bytes)),
  },
  { is: (bytes) => begins(bytes, 'fLaC'), read: (bytes) => textsOf(listFlacTags(bytes)) },
  { is: (bytes) => begins(bytes, 'GIF8'), read: () => new Map() },
]

/** The JSON of the workflow that a picture, film or sound carries, null without one; undefined for other files. */
export const findEmbedded = (bytes: Uint8Array): string | null | undefined => {
  const container = CONTAINERS.find(({ is }) => is(bytes))
  if (!container) return undefined
  const texts = container.read(bytes)
  return NAMES.map((name) => texts.get(name)).find((text) => text !== undefined) ?? null
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength)

/** Texts in tEXt chunks, by their keywords. */
function readPng(bytes: Uint8Array): Texts {
  const [texts, view]: [Texts, DataView] = [new Map(), viewOf(bytes)]
  for (let at = 8, parts = 0; at + 8 <= bytes.length && parts < PARTS_MAX; parts += 1) {
    const data = bytes.subarray(at + 8, at + 8 + view.getUint32(at))
    const end = data.indexOf(0)
    if (begins(bytes, 'tEXt', at + 4))
      texts.set(latin(data.subarray(0, end)), latin(data.subarray(end + 1)))
    at += view.getUint32(at) + 12
  }
  return texts
}

/** EXIF in the segments before the picture. */
function readJpeg(bytes: Uint8Array): Texts {
  const view = viewOf(bytes)
  const texts: Texts = new Map()
  for (let at = 2; at + 4 <= bytes.length && bytes[at] === 0xff && bytes[at + 1] !== 0xda;) {
    const length = view.getUint16(at + 2)
    const data = bytes.subarray(at + 4, at + 2 + length)
    if (bytes[at + 1] === 0xe1 && begins(data, 'Exif\0\0')) addExif(texts, data)
    at += 2 + Math.max(2, length)
  }
  return texts
}

function readWebp(bytes: Uint8Array): Texts {
  const [texts, view]: [Texts, DataView] = [new Map(), viewOf(bytes)]
  for (let at = 12, parts = 0; at + 8 <= bytes.length && parts < PARTS_MAX; parts += 1) {
    const size = view.getUint32(at + 4, true)
    if (begins(bytes, 'EXIF', at)) addExif(texts, bytes.subarray(at + 8, at + 8 + size))
    at += 8 + size + (size % 2)
  }
  return texts
}

const addExif = (texts: Texts, data: Uint8Array): void => {
  for (const text of listExifTexts(data)) addText(texts, text)
}

/** Adds a text as savers write it: `workflow:{…}`, an object with the members `workflow` and `prompt`, or the workflow itself. */
const addText = (texts: Texts, text: string): void => {
  const [, name = '', rest = text] = /^\s*(workflow|prompt)\s*:\s*([^]*)$/i.exec(text) ?? []
  if (!rest.trimStart().startsWith('{')) return
  if (name !== '') return void texts.set(name.toLowerCase(), rest)
  const members = parseMembers(rest)
  for (const one of NAMES) {
    const member = members[one]
    if (typeof member === 'string') texts.set(one, member)
    else if (typeof member === 'object' && member !== null) texts.set(one, JSON.stringify(member))
  }
  if (Array.isArray(members['nodes'])) texts.set('workflow', rest)
}

const parseMembers = (text: string): Record<string, unknown> => {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return {}
  }
}

/** A box of an MP4: its type, and what is in it. */
type Box = readonly [type: string, content: Uint8Array]

function listBoxes(bytes: Uint8Array): Box[] {
  const [boxes, view]: [Box[], DataView] = [[], viewOf(bytes)]
  for (let at = 0; at + 8 <= bytes.length && boxes.length < PARTS_MAX;) {
    const size = view.getUint32(at)
    const isLong = size === 1 && at + 16 <= bytes.length
    const whole = isLong ? Number(view.getBigUint64(at + 8)) : size || bytes.length - at
    if (whole < 8) break
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8))
    boxes.push([type, bytes.subarray(at + (isLong ? 16 : 8), at + whole)])
    at += whole
  }
  return boxes
}

const contentOf = (bytes: Uint8Array, ...path: string[]): Uint8Array =>
  path.reduce(
    (inner, type) => listBoxes(inner).find(([one]) => one === type)?.[1] ?? inner.subarray(0, 0),
    bytes,
  )

/** Tags of the film: under keys of their own, or in the comment. */
function readMp4(bytes: Uint8Array): Texts {
  const texts: Texts = new Map()
  const film = contentOf(bytes, 'moov')
  for (const meta of [contentOf(film, 'udta', 'meta'), contentOf(film, 'meta')]) {
    // MP4 has four bytes in front of the boxes, QuickTime none.
    const inner = meta.subarray(begins(meta, 'hdlr', 4) ? 0 : 4)
    const keys = listBoxes(contentOf(inner, 'keys').subarray(8)).map(([, name]) => latin(name))
    for (const [type, item] of listBoxes(contentOf(inner, 'ilst'))) {
      const value = new TextDecoder().decode(contentOf(item, 'data').subarray(8))
      const key = type === '\xa9cmt' ? 'comment' : keys[numberOf(type) - 1]
      addTag(texts, key, value)
    }
  }
  return texts
}

const textsOf = (tags: readonly (readonly [name: string, text: string])[]): Texts => {
  const texts: Texts = new Map()
  for (const [name, text] of tags) addTag(texts, name, text)
  return texts
}

const addTag = (texts: Texts, name: string | undefined, text: string): void => {
  if (name === 'workflow' || name === 'prompt') texts.set(name, text)
  else if (name === 'comment') addText(texts, text)
}

/** The number of an item's key, in place of its type. */
const numberOf = (type: string): number =>
  [...type].reduce((number, byte) => number * 256 + byte.charCodeAt(0), 0)
