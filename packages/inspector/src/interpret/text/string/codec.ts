const LATIN1 = new Set(['latin1', 'latin', 'iso88591', 'l1'])
const UTF8 = new Set(['utf8', 'u8', 'utf', 'utf8sig'])

/**
 * `data.decode(encoding)` for UTF-8, Latin-1 and ASCII; undefined for another encoding, and for what it can't hold. Of the
 * error handlers `ignore` and `replace` are known.
 */
export const decode = (
  data: Uint8Array,
  encoding = 'utf-8',
  errors = 'strict',
): string | undefined => {
  const name = encoding.toLowerCase().replaceAll(/[-_ ]/g, '')
  if (UTF8.has(name)) return decodeUtf8(name === 'utf8sig' ? withoutMark(data) : data, errors)
  const isSingleByte = LATIN1.has(name) || (name === 'ascii' && data.every((byte) => byte < 0x80))
  return isSingleByte ? Buffer.from(data).toString('latin1') : undefined
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

const withoutMark = (data: Uint8Array): Uint8Array =>
  data[0] === 0xef && data[1] === 0xbb && data[2] === 0xbf ? data.subarray(3) : data
