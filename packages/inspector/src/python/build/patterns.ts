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
  operatorAt,
  valueAt,
} from '../kids.ts'
import type { Builders, Kids } from '../kids.ts'

interface KeywordPattern {
  kind: 'KeywordPattern'
  name: string
  pattern: ast.Pattern
}

/** `**rest` in a mapping. */
interface RestPattern {
  kind: 'RestPattern'
  name: string
}

const patternsBetween = (kids: Kids, from: number, to: number): ast.Pattern[] =>
  findAll(kids, 'case_pattern', from, to) as ast.Pattern[]

/** `[a, b]` and `(a, b)`; one pattern in parentheses without a comma is that pattern. */
export const sequencePattern = (kids: Kids): ast.Pattern => {
  const patterns = patternsBetween(kids, 0, count(kids))
  const [only] = patterns
  const grouped = nameAt(kids, 0) === '(' && patterns.length === 1 && !has(kids, ',')
  return only && grouped ? only : { kind: 'MatchSequence', patterns }
}

/** The pattern that starts at a child: one or, for `-1`, two of them. */
const patternAt = (kids: Kids, index: number): ast.Pattern => {
  if (nameAt(kids, index) === '-') return { kind: 'MatchValue', value: negative(kids, index) }
  if (nameAt(kids, index) === '_') return { kind: 'MatchAs', pattern: undefined, name: undefined }
  if (nameAt(kids, index) === 'dotted_name')
    return namePattern(valueAt(kids, index) as string, lineAt(kids, index))
  const value = valueAt(kids, index) as ast.Pattern | ast.Expression
  switch (value.kind) {
    case 'Tuple':
    case 'List':
      return { kind: 'MatchSequence', patterns: [] }
    case 'Constant':
      return value.value === null || typeof value.value === 'boolean'
        ? { kind: 'MatchSingleton', value: value.value }
        : { kind: 'MatchValue', value }
    default:
      return value.kind.startsWith('Match')
        ? (value as ast.Pattern)
        : { kind: 'MatchValue', value: value as ast.Expression }
  }
}

const negative = (kids: Kids, index: number): ast.Expression => ({
  kind: 'UnaryOp',
  line: lineAt(kids, index + 1),
  op: '-',
  operand: exprAt(kids, index + 1),
})

/** A name is a capture, a dotted one a value to compare with. */
const namePattern = (dotted: string, line: number): ast.Pattern => {
  const [first = '', ...attributes] = dotted.split('.')
  if (attributes.length === 0) {
    return { kind: 'MatchAs', pattern: undefined, name: first === '_' ? undefined : first }
  }
  return { kind: 'MatchValue', value: attributeChain(first, attributes, line) }
}

const attributeChain = (first: string, attributes: string[], line: number): ast.Expression => {
  let value: ast.Expression = { kind: 'Name', line, id: first }
  for (const attr of attributes) value = { kind: 'Attribute', line, value, attr }
  return value
}

const UNCHANGED = new Set(['keyword_pattern', 'splat_pattern', 'as_pattern'])

const dict = (kids: Kids): ast.Pattern => {
  const mapping = { keys: [] as ast.Expression[], patterns: [] as ast.Pattern[] }
  for (let index = 1; index < count(kids) - 1; index += 1) {
    if (nameAt(kids, index) !== ':') continue
    mapping.keys.push(keyBefore(kids, index))
    mapping.patterns.push(valueAt(kids, index + 1) as ast.Pattern)
  }
  return {
    kind: 'MatchMapping',
    ...mapping,
    rest: (find(kids, 'splat_pattern') as RestPattern | undefined)?.name,
  }
}

const keyBefore = (kids: Kids, colon: number): ast.Expression => {
  const start = nameAt(kids, colon - 2) === '-' ? colon - 2 : colon - 1
  const pattern = patternAt(kids, start)
  if (pattern.kind === 'MatchValue') return pattern.value
  return {
    kind: 'Constant',
    line: lineAt(kids, start),
    value: pattern.kind === 'MatchSingleton' ? pattern.value : undefined,
  }
}

/** `pattern as name` in a `case`; `expression as target` elsewhere has the same name. */
export const asPattern = (kids: Kids): ast.Pattern | KeywordPattern | typeof BROKEN => {
  const target = exprAt(kids, count(kids) - 1)
  if (target.kind !== 'Name') return BROKEN
  const value = valueAt(kids, 0) as ast.Pattern | KeywordPattern
  if (value.kind !== 'KeywordPattern') return { kind: 'MatchAs', pattern: value, name: target.id }
  // `key=pattern as name` comes as `(key=pattern) as name`.
  return { ...value, pattern: { kind: 'MatchAs', pattern: value.pattern, name: target.id } }
}

export const patternBuilders: Builders = {
  case_clause: (kids): ast.MatchCase => {
    const stop = has(kids, 'if_clause') ? indexOf(kids, 'if_clause') : indexOf(kids, ':')
    const patterns = patternsBetween(kids, 1, stop)
    const [only] = patterns
    const single = only !== undefined && patterns.length === 1 && nameAt(kids, stop - 1) !== ','
    return {
      pattern: single ? only : { kind: 'MatchSequence', patterns },
      guard: find(kids, 'if_clause') as ast.Expression | undefined,
      body: block(kids),
    }
  },
  case_pattern: (kids): ast.Pattern | KeywordPattern => {
    const name = nameAt(kids, 0)
    return UNCHANGED.has(name) ? (valueAt(kids, 0) as ast.Pattern) : patternAt(kids, 0)
  },
  union_pattern: (kids): ast.Pattern => {
    const patterns = [patternAt(kids, 0)]
    for (let index = 0; index < count(kids); index += 1) {
      if (nameAt(kids, index) === '|') patterns.push(patternAt(kids, index + 1))
    }
    return { kind: 'MatchOr', patterns }
  },
  keyword_pattern: (kids): KeywordPattern => ({
    kind: 'KeywordPattern',
    name: (valueAt(kids, 0) as ast.Name).id,
    pattern: patternAt(kids, 2),
  }),
  splat_pattern: (kids): ast.Pattern | RestPattern => {
    const name = (find(kids, 'identifier') as ast.Name | undefined)?.id
    if (nameAt(kids, 0) === '**') return { kind: 'RestPattern', name: name ?? '_' }
    return { kind: 'MatchStar', name: name === '_' ? undefined : name }
  },
  class_pattern: (kids): ast.Pattern => {
    const dotted = (valueAt(kids, 0) as string).split('.')
    const patterns = patternsBetween(kids, 2, count(kids)) as (ast.Pattern | KeywordPattern)[]
    return {
      kind: 'MatchClass',
      cls: attributeChain(dotted[0] ?? '', dotted.slice(1), kids.line),
      patterns: patterns.filter((pattern) => pattern.kind !== 'KeywordPattern'),
      keywords: patterns
        .filter((pattern) => pattern.kind === 'KeywordPattern')
        .map(({ name, pattern }) => ({ name, pattern })),
    }
  },
  dict_pattern: dict,
  /** `-1 + 2j`. */
  complex_pattern: (kids): ast.Expression => {
    const negated = nameAt(kids, 0) === '-'
    const middle = negated ? 2 : 1
    const left = negated ? negative(kids, 0) : exprAt(kids, 0)
    const right = { op: operatorAt(kids, middle), value: exprAt(kids, middle + 1) }
    return { kind: 'BinOp', line: kids.line, left, rights: [right] }
  },
}
