import { capText, codePoints, lengthOf, MAX_TEXT } from '../string/code-points.ts'

/** Pads text to the width by fill and alignment; undefined over the cap. */
const alignText = (text: string, spec: FormatSpec, fallback: '<' | '>'): string | undefined => {
  const missing = Math.max(0, spec.width - lengthOf(text))
  const align = spec.align ?? fallback
  const left = align === '<' ? 0 : align === '^' ? Math.floor(missing / 2) : missing
  return capText(spec.fill.repeat(left) + text + spec.fill.repeat(missing - left))
}

/**
 * Pads a number, between its head (sign and prefix as `0x`) and digits for `=` and for a `0` without alignment. Groups of
 * digits are unknown.
 */
export const alignNumber = (head: string, digits: string, spec: FormatSpec): string | undefined => {
  if (spec.grouping !== '') return undefined
  if ((spec.align ?? (spec.zeroPadded ? '=' : '>')) !== '=')
    return alignText(head + digits, spec, '>')
  const missing = Math.max(0, spec.width - head.length - digits.length)
  return capText(head + spec.fill.repeat(missing) + digits)
}

/** The sign that the specification asks for. */
export const signOf = (isNegative: boolean, spec: FormatSpec): string =>
  isNegative ? '-' : spec.sign.replace('-', '')

/** `format(text, spec)` of a str; undefined for a specification that Python rejects, and over the cap. */
export const formatText = (text: string, specText: string): string | undefined => {
  if (specText === '') return text.length > MAX_TEXT ? undefined : text
  const spec = parseSpec(specText)
  if (spec === undefined || (spec.type !== '' && spec.type !== 's')) return undefined
  const isNumeric = /^(?:.?[<>^])?[+\- z#]/su.test(specText)
  if (isNumeric || spec.align === '=' || spec.grouping !== '') return undefined
  return alignText(cut(text, spec.precision), spec, '<')
}

/** The first `length` characters; all without a length. */
export const cut = (text: string, length: number | undefined): string =>
  length === undefined || lengthOf(text) <= length
    ? text
    : codePoints(text).slice(0, length).join('')

/** A format specification: `[[fill]align][sign][z][#][0][width][grouping][.precision][type]`. */
export interface FormatSpec {
  fill: string
  align: '<' | '>' | '=' | '^' | undefined
  sign: '+' | '-' | ' ' | ''
  /** `z`: a result of minus zero loses its sign. */
  positiveZero: boolean
  alternate: boolean
  /** A `0` before the width. */
  zeroPadded: boolean
  width: number
  grouping: ',' | '_' | ''
  precision: number | undefined
  /** One letter, or empty. */
  type: string
}

const SPEC =
  /^(?:([^])?([<>=^]))?([+\- ])?(z)?(#)?(0)?([0-9]+)?([,_])?(?:\.([0-9]+))?([a-zA-Z%])?$/u

/** Reads a specification; undefined for one that Python rejects or whose width or precision is over the cap. */
export const parseSpec = (text: string): FormatSpec | undefined => {
  const match = SPEC.exec(text)
  if (match === null) return undefined
  const [, fill, align, sign, z, alternate, zero, width, grouping, precision, type] = match
  const spec: FormatSpec = {
    fill: fill ?? (zero === undefined ? ' ' : '0'),
    align: align as FormatSpec['align'],
    sign: (sign ?? '') as FormatSpec['sign'],
    positiveZero: z !== undefined,
    alternate: alternate !== undefined,
    zeroPadded: zero !== undefined,
    width: Number(width ?? 0),
    grouping: (grouping ?? '') as FormatSpec['grouping'],
    precision: precision === undefined ? undefined : Number(precision),
    type: type ?? '',
  }
  return spec.width > MAX_TEXT || (spec.precision ?? 0) > MAX_TEXT ? undefined : spec
}
