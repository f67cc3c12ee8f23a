import { MAX_TEXT } from './string/code-points.ts'

/** CPython prints an int of more digits only in hexadecimal. */
const MAX_DIGITS = 4300
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u
const NEEDS_CARE = /[\\'\p{C}\p{Zl}\p{Zp}\xa0]|(?! )\p{Zs}/u
const SHORT_ESCAPES = new Map([
  ['\\', '\\\\'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
])

/** `repr(text)`: single quotes unless only those are in it. Undefined over the cap. */
export const reprText = (text: string): string | undefined => {
  if (!NEEDS_CARE.test(text)) return text.length + 2 > MAX_TEXT ? undefined : `'${text}'`
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'"
  const out: string[] = [mark]
  let length = 2
  for (const character of text) {
    const piece =
      SHORT_ESCAPES.get(character) ??
      (character === mark
        ? `\\${mark}`
        : UNPRINTABLE.test(character)
          ? escapeOf(character)
          : character)
    length += piece.length
    if (length > MAX_TEXT) return undefined
    out.push(piece)
  }
  return `${out.join('')}${mark}`
}

/** `str(value)` of an int; undefined for more than 4,300 digits, which raises. */
export const reprInt = (value: bigint): string | undefined => {
  const text = value.toString()
  return text.length > MAX_DIGITS + (value < 0n ? 1 : 0) ? undefined : text
}

/** `repr(value)` of a float: the shortest text that reads back, with an exponent below 1e-4 and from 1e16 on. */
export const reprFloat = (value: number): string => {
  if (Number.isNaN(value)) return 'nan'
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf'
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0'
  const [mantissa = '', power = '0'] = value.toExponential().split('e')
  const exponent = Number(power)
  if (exponent < -4 || exponent >= 16) return `${mantissa}e${exponentText(exponent)}`
  const digits = mantissa.replace('-', '').replace('.', '')
  return (value < 0 ? '-' : '') + placePoint(digits, exponent)
}

/** `+05`: a sign and two digits at least, as C prints it. */
const exponentText = (exponent: number): string =>
  (exponent < 0 ? '-' : '+') + String(Math.abs(exponent)).padStart(2, '0')

const placePoint = (digits: string, exponent: number): string => {
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${digits}`
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0')
  return `${whole}.${digits.slice(exponent + 1) || '0'}`
}

const escapeOf = (character: string): string => {
  const code = character.codePointAt(0) ?? 0
  const hex = code.toString(16)
  if (code <= 0xff) return `\\x${hex.padStart(2, '0')}`
  return code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`
}
