import { dottedNames } from '../../words.ts'

/** Decoders of Python by name, over text whose characters are bytes; undefined for what they reject. */
export const decodeText = (decoder: string, text: string): string | undefined => {
  if (text.length > MAX_TEXT) return undefined
  if (BASE64.has(decoder)) return Buffer.from(text, 'base64').toString('latin1')
  if (HEX.has(decoder)) return fromHex(text)
  return undefined
}

const fromHex = (text: string): string | undefined => {
  const digits = text.replaceAll(/\s/g, '')
  return /^(?:[0-9a-f]{2})*$/i.test(digits)
    ? Buffer.from(digits, 'hex').toString('latin1')
    : undefined
}

const BASE64 = dottedNames({
  base64: 'b64decode standard_b64decode urlsafe_b64decode decodebytes decodestring',
  binascii: 'a2b_base64',
})

const HEX = dottedNames({
  binascii: 'unhexlify a2b_hex',
  base64: 'b16decode',
  'builtins.bytes': 'fromhex',
  'builtins.bytearray': 'fromhex',
})

/** The codecs that are a disguise rather than a character set, for `codecs.decode` and `.decode`. */
export const isDisguise = (codec: string): boolean =>
  /^(rot[_-]?13|hex|hex_codec|base64|base_64|base64_codec|zlib|zlib_codec|zip|bz2|bz2_codec|uu|uu_codec)$/i.test(
    codec,
  )

/** The text under a disguise that can be taken off here. */
export const decodeCodec = (codec: string, text: string): string | undefined => {
  if (/^rot[_-]?13$/i.test(codec)) return rot13(text)
  if (/^hex/i.test(codec)) return fromHex(text)
  if (/^base_?64/i.test(codec)) return decodeText('base64.b64decode', text)
  return undefined
}

const rot13 = (text: string): string =>
  text.replaceAll(/[a-z]/gi, (letter) => {
    const base = letter <= 'Z' ? 65 : 97
    return String.fromCodePoint((((letter.codePointAt(0) ?? 0) - base + 13) % 26) + base)
  })

/** Stands for the unknown part of a text. NUL can be in no path, address or command. */
export const HOLE = '\0'

/** Bytes as a text with a character for each; escapes like `\x7f` stay one to one. */
export const bytesText = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')

/** Longest text that is put together; what rules look for is far shorter. */
export const MAX_TEXT = 16_384

/** Most texts that one value may be. */
export const MAX_TEXTS = 32

/** Every text of `left` before every one of `right`, as far as there is room. */
export const concatenate = (left: string[], right: string[]): string[] => {
  const made: string[] = []
  for (const start of left)
    for (const end of right)
      if (made.length < MAX_TEXTS) made.push((start + end).slice(0, MAX_TEXT))
  return made
}

export const isWhole = (text: string): boolean => !text.includes(HOLE)

/** The last segment of a path, in lower case. */
export const fileName = (path: string): string => path.split(/[\\/]/).at(-1)?.toLowerCase() ?? ''

/** Folders that variables of the environment stand for, as far as rules name them. */
export const environmentFolder = (variable: string): string =>
  FOLDERS.get(variable.toUpperCase()) ?? HOLE

const FOLDERS = new Map([
  ['HOME', '~'],
  ['USERPROFILE', '~'],
  ['APPDATA', '~/AppData/Roaming'],
  ['LOCALAPPDATA', '~/AppData/Local'],
])
