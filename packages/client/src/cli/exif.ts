/** Entries of one directory, and characters of a value that are looked at: a larger workflow than 32 MiB is none. */
const [ENTRIES_MAX, VALUE_MAX] = [1_000, 2 ** 25]
/** The tag of the directory that has a user's comment. */
const EXIF_DIRECTORY = 0x8769
/** Types of values that may be text: bytes, ASCII, and undefined ones. */
const TEXT_TYPES = new Set([1, 2, 7])
const USER_COMMENT = 0x9286

/** Lists the texts of EXIF data (a TIFF, maybe behind `Exif` and two zeros), whatever their tags. */
export const listExifTexts = (given: Uint8Array): string[] => {
  const bytes = latin(given.subarray(0, 6)) === 'Exif\0\0' ? given.subarray(6) : given
  const order = latin(bytes.subarray(0, 2))
  if (bytes.length < 8 || (order !== 'II' && order !== 'MM')) return []
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const isLittle = order === 'II'
  const texts: string[] = []
  const readDirectory = (at: number, isFirst: boolean): void => {
    if (at + 2 > bytes.length) return
    const count = Math.min(view.getUint16(at, isLittle), ENTRIES_MAX)
    for (
      let entry = at + 2;
      entry < at + 2 + 12 * count && entry + 12 <= bytes.length;
      entry += 12
    ) {
      const [tag, type] = [view.getUint16(entry, isLittle), view.getUint16(entry + 2, isLittle)]
      const [length, place] = [
        view.getUint32(entry + 4, isLittle),
        view.getUint32(entry + 8, isLittle),
      ]
      if (tag === EXIF_DIRECTORY && isFirst) readDirectory(place, false)
      else if (TEXT_TYPES.has(type) && length <= VALUE_MAX) {
        const start = length <= 4 ? entry + 8 : place
        texts.push(decodeText(bytes.subarray(start, start + length), tag === USER_COMMENT))
      }
    }
  }
  readDirectory(view.getUint32(4, isLittle), true)
  return texts
}

export const latin = (bytes: Uint8Array): string => new TextDecoder('latin1').decode(bytes)

/** A user's comment has eight characters in front that name its encoding; UTF-16 comes in both orders of bytes, whatever that of the rest. */
const decodeText = (value: Uint8Array, isComment: boolean): string => {
  const encoding = isComment ? latin(value.subarray(0, 8)) : ''
  const isNamed = /^(ASCII\0{3}|UNICODE\0|JIS\0{5}|\0{8})$/.test(encoding)
  const bytes = isNamed ? value.subarray(8) : value
  const wide = bytes[0] === 0 || bytes[0] === 0xfe ? 'utf-16be' : 'utf-16le'
  const isWide = bytes.length > 1 && (bytes[0] === 0 || bytes[1] === 0 || isMark(bytes))
  return new TextDecoder(isWide ? wide : 'utf-8').decode(bytes).replace(/\0+$/, '')
}

/** True for a byte order mark of UTF-16. */
const isMark = ([first, second]: Uint8Array): boolean =>
  (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
