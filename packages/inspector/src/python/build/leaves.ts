import type * as ast from '../ast.ts'
import type { Conversion } from './strings.ts'
import { at, node, type Builders } from '../children.ts'
import { attribute, indexOfSubscript, starred } from './expressions.ts'

/** A node read from its source text alone. */
export type LeafBuilder = (text: string, line: number, start: number) => unknown

/** Python compares identifiers in the NFKC form. */
const name = (text: string, line: number): ast.Name => ({
  kind: 'Name',
  line,
  id: /[\u0080-\uffff]/.test(text) ? text.normalize('NFKC') : text,
})

/** `9**9**9` written out: reading a decimal is quadratic in its digits, and no setting of a node is that long. */
const MAX_DIGITS = 5000

/** An int: decimal, `0x`, `0o`, `0b`, with underscores; undefined if imaginary, too long or of Python 2 (`0777`, `1L`). */
const readInteger = (literal: string): bigint | undefined => {
  const digits = literal.includes('_') ? literal.replaceAll('_', '') : literal
  if (digits.length > MAX_DIGITS || /[jJlL]$/.test(digits) || /^0+[1-9]/.test(digits))
    return undefined
  return BigInt(digits)
}

/** A float, infinite where the literal is above the largest double; undefined if imaginary. */
const readFloat = (literal: string): number | undefined =>
  /[jJ]$/.test(literal)
    ? undefined
    : Number(literal.includes('_') ? literal.replaceAll('_', '') : literal)

const constant =
  (read: (text: string) => ast.Constant['value']): LeafBuilder =>
  (text, line): ast.Expression => ({ kind: 'Constant', line, value: read(text) })

const statement =
  (kind: 'Pass' | 'Break' | 'Continue'): LeafBuilder =>
  (_text, line): ast.Statement => ({ kind, line })

export const leafBuilders: Record<string, LeafBuilder> = {
  identifier: name,
  integer: constant(readInteger),
  float: constant(readFloat),
  true: constant(() => true),
  false: constant(() => false),
  none: constant(() => null),
  ellipsis: constant(() => ({ kind: 'Ellipsis' })),
  /** `..` of a relative import, which may hold blanks. */
  import_prefix: (text) => text.replace(/[^.]/g, '').length,
  type_conversion: (text, _line, start): Conversion => ({ start, letter: text.slice(1) }),
  pass_statement: statement('Pass'),
  break_statement: statement('Break'),
  continue_statement: statement('Continue'),
}

export const typeBuilders: Builders = {
  type: at(0),
  /** `List[int]` in an annotation; elsewhere the grammar calls it a subscript. */
  generic_type: node<ast.Subscript>('Subscript', { value: at(0), index: at(1) }),
  type_parameter: (children) => indexOfSubscript(children, 1),
  /** `a: b` among type parameters; in an annotation it is a slice. */
  constrained_type: node<ast.Slice>('Slice', {
    lower: at(0),
    upper: at(2),
    step: () => undefined,
  }),
  member_type: attribute,
  splat_type: starred,
}
