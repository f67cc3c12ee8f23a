import { MAX_TEXT } from '../limits.ts'
import { codePoints, lengthOf } from '../string/code-points.ts'
import { alignText } from './align.ts'
import { parseSpec } from './spec.ts'

/** `format(text, spec)` of a str; undefined for a specification that Python refuses, and over the cap. */
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
