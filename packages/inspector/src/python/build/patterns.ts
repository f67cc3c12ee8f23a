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
} from '../children.ts'
import type { Builders, Children } from '../children.ts'

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

const patternsBetween = (children: Children, from: number, to: number): ast.Pattern[] =>
  findAll(children, 'case_pattern', from, to) as ast.Pattern[]

/** `[a, b]` and `(a, b)`; one pattern in parentheses without a comma is that pattern. */
export const sequencePattern = (children: Children): ast.Pattern => {
  const patterns = patternsBetween(children, 0, count(children))
  const [only] = patterns
  const grouped = nameAt(children, 0) === '(' && patterns.length === 1 && !has(children, ',')
  return only && grouped ? only : { kind: 'MatchSequence', patterns }
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
  return { kind: 'MatchValue', value: attributeChain(first, attributes, line) }
}

const attributeChain = (first: string, attributes: string[], line: number): ast.Expression => {
  let value: ast.Expression = { kind: 'Name', line, id: first }
  for (const attr of attributes) value = { kind: 'Attribute', line, value, attr }
  return value
}

const UNCHANGED = new Set(['keyword_pattern', 'splat_pattern', 'as_pattern'])

const dict = (children: Children): ast.Pattern => {
  const mapping = { keys: [] as ast.Expression[], patterns: [] as ast.Pattern[] }
  for (let index = 1; index < count(children) - 1; index += 1) {
    if (nameAt(children, index) !== ':') continue
    mapping.keys.push(keyBefore(children, index))
    mapping.patterns.push(valueAt(children, index + 1) as ast.Pattern)
  }
  return {
    kind: 'MatchMapping',
    ...mapping,
    rest: (find(children, 'splat_pattern') as RestPattern | undefined)?.name,
  }
}

const keyBefore = (children: Children, colon: number): ast.Expression => {
  const start = nameAt(children, colon - 2) === '-' ? colon - 2 : colon - 1
  const pattern = patternAt(children, start)
  if (pattern.kind === 'MatchValue') return pattern.value
  return {
    kind: 'Constant',
    line: lineAt(children, start),
    value: pattern.kind === 'MatchSingleton' ? pattern.value : undefined,
  }
}

/** `pattern as name` in a `case`; `expression as target` elsewhere has the same name. */
export const asPattern = (children: Children): ast.Pattern | KeywordPattern | typeof BROKEN => {
  const target = exprAt(children, count(children) - 1)
  if (target.kind !== 'Name') return BROKEN
  const value = valueAt(children, 0) as ast.Pattern | KeywordPattern
  if (value.kind !== 'KeywordPattern') return { kind: 'MatchAs', pattern: value, name: target.id }
  // `key=pattern as name` comes as `(key=pattern) as name`.
  return { ...value, pattern: { kind: 'MatchAs', pattern: value.pattern, name: target.id } }
}

export const patternBuilders: Builders = {
  case_clause: (children): ast.MatchCase => {
    const stop = has(children, 'if_clause')
      ? indexOf(children, 'if_clause')
      : indexOf(children, ':')
    const patterns = patternsBetween(children, 1, stop)
    const [only] = patterns
    const single = only !== undefined && patterns.length === 1 && nameAt(children, stop - 1) !== ','
    return {
      pattern: single ? only : { kind: 'MatchSequence', patterns },
      guard: find(children, 'if_clause') as ast.Expression | undefined,
      body: block(children),
    }
  },
  case_pattern: (children): ast.Pattern | KeywordPattern => {
    const name = nameAt(children, 0)
    return UNCHANGED.has(name) ? (valueAt(children, 0) as ast.Pattern) : patternAt(children, 0)
  },
  union_pattern: (children): ast.Pattern => {
    const patterns = [patternAt(children, 0)]
    for (let index = 0; index < count(children); index += 1) {
      if (nameAt(children, index) === '|') patterns.push(patternAt(children, index + 1))
    }
    return { kind: 'MatchOr', patterns }
  },
  keyword_pattern: (children): KeywordPattern => ({
    kind: 'KeywordPattern',
    name: (valueAt(children, 0) as ast.Name).id,
    pattern: patternAt(children, 2),
  }),
  splat_pattern: (children): ast.Pattern | RestPattern => {
    const name = (find(children, 'identifier') as ast.Name | undefined)?.id
    if (nameAt(children, 0) === '**') return { kind: 'RestPattern', name: name ?? '_' }
    return { kind: 'MatchStar', name: name === '_' ? undefined : name }
  },
  class_pattern: (children): ast.Pattern => {
    const dotted = (valueAt(children, 0) as string).split('.')
    const patterns = patternsBetween(children, 2, count(children)) as (
      | ast.Pattern
      | KeywordPattern
    )[]
    return {
      kind: 'MatchClass',
      cls: attributeChain(dotted[0] ?? '', dotted.slice(1), children.line),
      patterns: patterns.filter((pattern) => pattern.kind !== 'KeywordPattern'),
      keywords: patterns
        .filter((pattern) => pattern.kind === 'KeywordPattern')
        .map(({ name, pattern }) => ({ name, pattern })),
    }
  },
  dict_pattern: dict,
  /** `-1 + 2j`. */
  complex_pattern: (children): ast.Expression => {
    const negated = nameAt(children, 0) === '-'
    const middle = negated ? 2 : 1
    const left = negated ? negative(children, 0) : exprAt(children, 0)
    const right = { op: operatorAt(children, middle), value: exprAt(children, middle + 1) }
    return { kind: 'BinOp', line: children.line, left, rights: [right] }
  },
}
