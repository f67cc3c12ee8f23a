/** A tag of a film or sound, by its name in lower case. */
type Tag = readonly [name: string, text: string]

/** Elements of one file that are looked at: a file may be made of empty ones. */
const PARTS_MAX = 100_000

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes).replace(/\0+$/, '')

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength)

/** Ids of the elements that lead to the tags of Matroska, with their marks of length. */
const [SEGMENT, TAGS, TAG, SIMPLE_TAG] = [0x18538067, 0x1254c367, 0x7373, 0x67c8]
const [NAME, TEXT] = [0x45a3, 0x4487]

/** Lists the tags of a WebM or other Matroska file. */
export const listMatroskaTags = (bytes: Uint8Array): Tag[] => {
  const tags = [SEGMENT, TAGS, TAG, SIMPLE_TAG].reduce(listInside, [bytes])
  return tags.map((tag) => {
    const parts = new Map(listElements(tag))
    const [name, text] = [NAME, TEXT].map((id) => decode(parts.get(id) ?? new Uint8Array()))
    return [(name ?? '').toLowerCase(), text ?? '']
  })
}

/** The elements of one kind in all of these. */
const listInside = (parents: Uint8Array[], wanted: number): Uint8Array[] =>
  parents.flatMap((parent) =>
    listElements(parent).flatMap(([id, content]) => (id === wanted ? content : [])),
  )

type Element = readonly [id: number, content: Uint8Array]

const listElements = (bytes: Uint8Array): Element[] => {
  const elements: Element[] = []
  for (let at = 0; at < bytes.length && elements.length < PARTS_MAX;) {
    const id = readNumber(bytes, at)
    const size = id && readNumber(bytes, id.end)
    if (!size) break
    // A size of ones alone is that of a stream: all that follows.
    const isOpen = size.value === size.mark - 1
    const end = isOpen ? bytes.length : size.end + size.value
    elements.push([id.value + id.mark, bytes.subarray(size.end, end)])
    at = end
  }
  return elements
}

/** Reads a number whose leading zeros say its length, without the mark behind them. */
const readNumber = (bytes: Uint8Array, at: number) => {
  const first = bytes[at] ?? 0
  const length = Math.clz32(first) - 23
  if (length > 8 || at + length > bytes.length) return undefined
  const rest = bytes.subarray(at + 1, at + length)
  const value = rest.reduce((sum, byte) => sum * 256 + byte, first - 2 ** (8 - length))
  return { value, mark: 2 ** (7 * length), end: at + length }
}

const COMMENTS = 4

/** Lists the comments of a FLAC file, which stand in blocks before the sound. */
export const listFlacTags = (bytes: Uint8Array): Tag[] => {
  const view = viewOf(bytes)
  for (let at = 4; at + 4 <= bytes.length;) {
    const head = view.getUint32(at)
    const end = at + 4 + (head & 0xffffff)
    if (((head >>> 24) & 0x7f) === COMMENTS) return readComments(bytes.subarray(at + 4, end))
    if (head >>> 31 === 1) break
    at = end
  }
  return []
}

/** The name of a program, how many comments there are, and these: each with its length in front. */
const readComments = (bytes: Uint8Array): Tag[] => {
  const view = viewOf(bytes)
  const tags: Tag[] = []
  const lengthAt = (at: number): number => (at + 4 <= bytes.length ? view.getUint32(at, true) : 0)
  for (let at = 4 + lengthAt(0) + 4; at + 4 <= bytes.length && tags.length < PARTS_MAX;) {
    const text = decode(bytes.subarray(at + 4, at + 4 + lengthAt(at)))
    const [, name = '', value = ''] = /^([^=]*)=([^]*)$/.exec(text) ?? []
    tags.push([name.toLowerCase(), value])
    at += 4 + lengthAt(at)
  }
  return tags
}
