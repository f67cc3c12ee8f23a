import type * as ast from '../ast.ts'
import {
  block,
  BROKEN,
  count,
  exprAt,
  find,
  findAll,
  has,
  indexOf,
  lineAt,
  nameAt,
  valueAt,
} from '../children.ts'
import type { Builders, Children } from '../children.ts'

const patternsBetween = (children: Children, from: number, to: number): ast.Pattern[] =>
  findAll(children, 'case_pattern', from, to) as ast.Pattern[]

/** A pattern of others; their names are kept. */
const ofOthers = (patterns: readonly ast.Pattern[]): ast.Pattern => ({
  kind: 'MatchOther',
  names: patterns.flatMap(namesOf),
})

/** Names that a pattern binds. */
export const namesOf = (pattern: ast.Pattern): string[] => {
  if (pattern.kind === 'MatchOther') return pattern.names
  if (pattern.kind === 'MatchValue') return []
  const inner = pattern.pattern ? namesOf(pattern.pattern) : []
  return pattern.name === undefined ? inner : [...inner, pattern.name]
}

/** `[a, b]` and `(a, b)`; one pattern in parentheses without a comma is that pattern. */
export const sequencePattern = (children: Children): ast.Pattern => {
  const patterns = patternsBetween(children, 0, count(children))
  const [only] = patterns
  const grouped = nameAt(children, 0) === '(' && patterns.length === 1 && !has(children, ',')
  return only && grouped ? only : ofOthers(patterns)
}

/** The pattern that starts at a child: one or, for `-1`, two of them. */
const patternAt = (children: Children, index: number): ast.Pattern => {
  if (nameAt(children, index) === '-')
    return { kind: 'MatchValue', value: negative(children, index) }
  if (nameAt(children, index) === '_')
    return { kind: 'MatchAs', pattern: undefined, name: undefined }
  if (nameAt(children, index) === 'dotted_name')
    return namePattern(valueAt(children, index) as string, lineAt(children, index))
  const value = valueAt(children, index) as ast.Pattern | ast.Expression
  if (isPattern(value)) return value
  const isOther =
    value.kind === 'Tuple' ||
    value.kind === 'List' ||
    (value.kind === 'Constant' && (value.value === null || typeof value.value === 'boolean'))
  return isOther ? ofOthers([]) : { kind: 'MatchValue', value }
}

const isPattern = (value: ast.Pattern | ast.Expression): value is ast.Pattern =>
  value.kind === 'MatchValue' || value.kind === 'MatchAs' || value.kind === 'MatchOther'

const negative = (children: Children, index: number): ast.Expression => ({
  kind: 'UnaryOp',
  line: lineAt(children, index + 1),
  op: '-',
  operand: exprAt(children, index + 1),
})

/** A name is a capture, a dotted one a value to compare with. */
const namePattern = (dotted: string, line: number): ast.Pattern => {
  const [first = '', ...attributes] = dotted.split('.')
  if (attributes.length === 0) {
    return { kind: 'MatchAs', pattern: undefined, name: first === '_' ? undefined : first }
  }
  let value: ast.Expression = { kind: 'Name', line, id: first }
  for (const attr of attributes) value = { kind: 'Attribute', line, value, attr }
  return { kind: 'MatchValue', value }
}

/** `pattern as name` in a `case`; `expression as target` elsewhere has the same name. */
export const asPattern = (children: Children): ast.Pattern | typeof BROKEN => {
  const target = exprAt(children, count(children) - 1)
  if (target.kind !== 'Name') return BROKEN
  return { kind: 'MatchAs', pattern: valueAt(children, 0) as ast.Pattern, name: target.id }
}

/** The inside of a class or mapping. */
const parts = (children: Children): ast.Pattern =>
  ofOthers([
    ...patternsBetween(children, 0, count(children)),
    ...(findAll(children, 'splat_pattern', 0, count(children)) as ast.Pattern[]),
  ])

export const patternBuilders: Builders = {
  case_clause: (children): ast.MatchCase => {
    const stop = has(children, 'if_clause')
      ? indexOf(children, 'if_clause')
      : indexOf(children, ':')
    const patterns = patternsBetween(children, 1, stop)
    const [only] = patterns
    const single = only !== undefined && patterns.length === 1 && nameAt(children, stop - 1) !== ','
    return {
      pattern: single ? only : ofOthers(patterns),
      guard: find(children, 'if_clause') as ast.Expression | undefined,
      body: block(children),
    }
  },
  case_pattern: (children) => patternAt(children, 0),
  union_pattern: (children) => {
    const patterns = [patternAt(children, 0)]
    for (let index = 0; index < count(children); index += 1) {
      if (nameAt(children, index) === '|') patterns.push(patternAt(children, index + 1))
    }
    return ofOthers(patterns)
  },
  keyword_pattern: (children) => patternAt(children, 2),
  splat_pattern: (children): ast.Pattern => {
    const name = (find(children, 'identifier') as ast.Name | undefined)?.id
    return { kind: 'MatchOther', names: name === undefined || name === '_' ? [] : [name] }
  },
  class_pattern: parts,
  dict_pattern: parts,
  complex_pattern: () => ofOthers([]),
}
