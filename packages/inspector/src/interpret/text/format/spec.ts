import { MAX_TEXT } from '../limits.ts'

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
