import { MAX_TEXT } from './code-points.ts'

const SURROGATE = /[\ud800-\udfff]/u
const UTF8 = new Set(['utf8', 'u8', 'utf', 'cp65001'])
const LATIN1 = new Set(['latin1', 'latin', 'iso88591', '88591', 'l1', 'cp819'])
const ASCII = new Set(['ascii', 'usascii', '646'])

/**
 * `text.encode(encoding)` for UTF-8, Latin-1 and ASCII; undefined for another encoding, for what it can't hold, and over
 * the cap. Of the error handlers `ignore` and `replace` are known.
 */
export const encode = (
  text: string,
  encoding = 'utf-8',
  errors = 'strict',
): Uint8Array | undefined => {
  if (text.length > MAX_TEXT) return undefined
  const limit = highestOf(encoding)
  if (limit === undefined) return undefined
  const bytes = limit === UTF8_LIMIT ? encodeUtf8(text, errors) : encodeByte(text, limit, errors)
  return bytes !== undefined && bytes.length > MAX_TEXT ? undefined : bytes
}

/** `data.decode(encoding)`, by the same rules. */
export const decode = (
  data: Uint8Array,
  encoding = 'utf-8',
  errors = 'strict',
): string | undefined => {
  const normal = normalize(encoding)
  if (normal === 'utf8sig') return decodeUtf8(withoutMark(data), errors)
  const limit = highestOf(encoding)
  if (limit === undefined) return undefined
  if (limit === UTF8_LIMIT) return decodeUtf8(data, errors)
  return limit === 0x7f ? decodeAscii(data, errors) : Buffer.from(data).toString('latin1')
}

const UTF8_LIMIT = 0x10ffff

const highestOf = (encoding: string): number | undefined => {
  const normal = normalize(encoding)
  if (UTF8.has(normal)) return UTF8_LIMIT
  if (LATIN1.has(normal)) return 0xff
  return ASCII.has(normal) ? 0x7f : undefined
}

const normalize = (encoding: string): string => encoding.toLowerCase().replaceAll(/[-_ ]/g, '')

const encodeUtf8 = (text: string, errors: string): Uint8Array | undefined => {
  if (!SURROGATE.test(text)) return new Uint8Array(Buffer.from(text, 'utf8'))
  if (errors !== 'ignore' && errors !== 'replace') return undefined
  const kept = text.replaceAll(new RegExp(SURROGATE, 'gu'), errors === 'ignore' ? '' : '?')
  return new Uint8Array(Buffer.from(kept, 'utf8'))
}

const encodeByte = (text: string, limit: number, errors: string): Uint8Array | undefined => {
  const bytes: number[] = []
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    if (code <= limit) bytes.push(code)
    else if (errors === 'replace') bytes.push(0x3f)
    else if (errors !== 'ignore') return undefined
  }
  return Uint8Array.from(bytes)
}

const decodeUtf8 = (data: Uint8Array, errors: string): string | undefined => {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(data)
  if (errors === 'replace') return text
  const isSound = Buffer.from(text, 'utf8').equals(data)
  if (isSound) return text
  // A U+FFFD that stands in the data looks like one made for an error, so only sound data may hold it.
  return errors === 'ignore' && !Buffer.from(data).includes('\ufffd')
    ? text.replaceAll('\ufffd', '')
    : undefined
}

const decodeAscii = (data: Uint8Array, errors: string): string | undefined => {
  if (data.every((byte) => byte < 0x80)) return Buffer.from(data).toString('latin1')
  if (errors !== 'ignore' && errors !== 'replace') return undefined
  const high = errors === 'ignore' ? '' : '\ufffd'
  return Array.from(data, (byte) => (byte < 0x80 ? String.fromCodePoint(byte) : high)).join('')
}

const withoutMark = (data: Uint8Array): Uint8Array =>
  data[0] === 0xef && data[1] === 0xbb && data[2] === 0xbf ? data.subarray(3) : data
