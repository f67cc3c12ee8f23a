import { crc32 } from 'node:zlib'

import { reject } from './reject.ts'

/** A name as one of the two headers of an entry holds it. */
interface RawName {
  bytes: Uint8Array
  /** General purpose flags of the entry. */
  flags: number
  /** Extra fields by their type. */
  extra: ReadonlyMap<number, { data: Uint8Array }> | undefined
}

/**
 * The path that a name stands for: UTF-8 by its flag, else code page 437, as Python's zipfile reads it. A Unicode path
 * field (APPNOTE 4.6.9) replaces it for some tools and not for others, so it may only spell out a name that ASCII can't.
 */
export const readName = ({ bytes, flags, extra }: RawName): string => {
  const plain = flags & UTF8_FLAG ? decodeUtf8(bytes) : decodeCp437(bytes)
  const unicode = findUnicodePath(bytes, extra?.get(UNICODE_PATH))
  if (unicode === undefined || unicode === plain) return plain
  const hidesAnother = flags & UTF8_FLAG || isAscii(plain) || isAscii(unicode)
  return hidesAnother ? reject('header_mismatch', { entry: plain, value: unicode }) : unicode
}

const findUnicodePath = (
  name: Uint8Array,
  field: { data: Uint8Array } | undefined,
): string | undefined => {
  if (!field || field.data.length < UNICODE_PATH_BYTES || field.data[0] !== 1) return undefined
  const { buffer, byteOffset } = field.data
  // A tool that renames an entry without knowing the field leaves it behind; the checksum shows that.
  const belongs = new DataView(buffer, byteOffset).getUint32(1, true) === crc32(name)
  return belongs ? decodeUtf8(field.data.subarray(UNICODE_PATH_BYTES)) : undefined
}

const decodeUtf8 = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return reject('path_encoding', { entry: decodeCp437(bytes) })
  }
}

/**
 * Text in code page 437, which names without the UTF-8 flag have (APPNOTE D.1). Bytes below 128 stay ASCII, control
 * characters included, so that the checks see them; the code page has pictures there.
 */
const decodeCp437 = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) =>
    byte < 128 ? String.fromCharCode(byte) : UPPER_HALF[byte - 128],
  ).join('')

const UPPER_HALF =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0'

// oxlint-disable-next-line no-control-regex -- ASCII begins with them
const isAscii = (text: string): boolean => /^[\x00-\x7f]*$/.test(text)

const UTF8_FLAG = 0x800
const UNICODE_PATH = 0x7075
/** A version byte and the CRC of the name before the path. */
const UNICODE_PATH_BYTES = 5
