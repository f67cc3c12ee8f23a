const CONTROLS = new Map([
  ['a', '\x07'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ['\\', '\\'],
])
const HEX_LENGTHS = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
])

/**
 * The character that an escape stands for (`at` is behind the backslash), and where it ends. Undefined for what Python
 * rejects: a letter of ASCII without a meaning, hexadecimal digits that are missing.
 */
export const readCharacterEscape = (
  characters: readonly string[],
  at: number,
): { character: string; end: number } | undefined => {
  const letter = characters[at]
  if (letter === undefined) return undefined
  const control = CONTROLS.get(letter)
  if (control !== undefined) return { character: control, end: at + 1 }
  const hexLength = HEX_LENGTHS.get(letter)
  if (hexLength !== undefined) return readCode(characters, at + 1, hexLength)
  return /^[A-Za-z0-9]$/.test(letter) ? undefined : { character: letter, end: at + 1 }
}

/** `\0`, `\012`, `\101`: up to three octal digits from `at`, at most 0o377; undefined for none. */
export const readOctal = (
  characters: readonly string[],
  at: number,
): { character: string; end: number } | undefined => {
  const digits = /^[0-7]*/.exec(characters.slice(at, at + 3).join(''))?.[0] ?? ''
  const code = parseInt(digits, 8)
  return digits === '' || code > 0o377
    ? undefined
    : { character: String.fromCodePoint(code), end: at + digits.length }
}

const readCode = (characters: readonly string[], at: number, length: number) => {
  const hex = characters.slice(at, at + length).join('')
  const code = parseInt(hex, 16)
  return hex.length === length && /^[0-9a-fA-F]+$/.test(hex) && code <= 0x10ffff
    ? { character: String.fromCodePoint(code), end: at + length }
    : undefined
}
