import type * as ast from '../../../src/extraction/python/ast.ts'

/**
 * One line for each statement of a module, in a notation that CPython's tree can be printed in as well: `@` is the line,
 * `~` what is absent, `i` a hexadecimal int, `f` the bits of a float, `b` hexadecimal bytes. Chains of operators are
 * printed one within the other, as CPython has them.
 */
export const printTree = (module: ast.Module): string[] => module.body.map(statement)

const statement = (node: ast.Statement): string => {
  const at = `@${node.line}`
  switch (node.kind) {
    case 'FunctionDef':
      return `(def${at} ${node.name} ${parameters(node.args)} ${list(node.decorators)} ${truth(node.isAsync)} ${truth(node.isGenerator)} ${block(node.body)})`
    case 'ClassDef':
      return `(class${at} ${node.name} ${list(node.bases)} [${node.keywords.map(keyword).join(' ')}] ${list(node.decorators)} ${block(node.body)})`
    case 'Return':
      return `(return${at} ${optional(node.value)})`
    case 'Delete':
      return `(del${at} ${list(node.targets)})`
    case 'Assign':
      return `(=${at} ${list(node.targets)} ${expression(node.value)})`
    case 'AugAssign':
      return `(${node.op}=${at} ${expression(node.target)} ${expression(node.value)})`
    case 'AnnAssign':
      return `(ann${at} ${expression(node.target)} ${expression(node.annotation)} ${optional(node.value)})`
    case 'For':
      return `(for${at} ${expression(node.target)} ${expression(node.iter)} ${block(node.body)} ${block(node.orelse)})`
    case 'While':
      return `(while${at} ${expression(node.test)} ${block(node.body)} ${block(node.orelse)})`
    case 'If':
      return `(if${at} ${expression(node.test)} ${block(node.body)} ${block(node.orelse)})`
    case 'With':
      return `(with${at} [${node.items.map((item) => `(${expression(item.context)} ${optional(item.target)})`).join(' ')}] ${block(node.body)})`
    case 'Match':
      return `(match${at} ${expression(node.subject)} ${node.cases.map((one) => `(${pattern(one.pattern)} ${optional(one.guard)} ${block(one.body)})`).join(' ')})`
    case 'Raise':
      return `(raise${at} ${optional(node.exception)} ${optional(node.cause)})`
    case 'Try':
      return `(try${at} ${block(node.body)} [${node.handlers.map((one) => `(@${one.line}${optional(one.type)} ${one.name ?? '~'} ${block(one.body)})`).join(' ')}] ${block(node.orelse)} ${block(node.finalbody)})`
    case 'Assert':
      return `(assert${at} ${expression(node.test)} ${optional(node.message)})`
    case 'Import':
      return `(import${at} ${aliases(node.names)})`
    case 'ImportFrom':
      return `(from${at} ${node.level} ${node.module ?? '~'} ${aliases(node.names)})`
    case 'Global':
    case 'Nonlocal':
      return `(${node.kind}${at} ${node.names.join(' ')})`
    case 'Expr':
      return `(expr${at} ${expression(node.value)})`
    default:
      return node.kind + at
  }
}

const expression = (node: ast.Expression): string => {
  const at = `@${node.line}`
  switch (node.kind) {
    case 'Constant':
      return constant(node.value) + at
    case 'Bytes':
      return `b${Buffer.from(node.value).toString('hex')}${at}`
    case 'Name':
      return node.id + at
    case 'Attribute':
      return `(.${at} ${expression(node.value)} ${node.attr})`
    case 'Subscript':
      return `(sub${at} ${expression(node.value)} ${expression(node.index)})`
    case 'Slice':
      return `(slice${at} ${optional(node.lower)} ${optional(node.upper)} ${optional(node.step)})`
    case 'Starred':
      return `(*${at} ${expression(node.value)})`
    case 'Call':
      return `(call${at} ${expression(node.func)} ${list(node.args)} [${node.keywords.map(keyword).join(' ')}])`
    case 'BinOp':
      return node.rights.reduce(
        (left, right) => `(${right.op}${at} ${left} ${expression(right.value)})`,
        expression(node.left),
      )
    case 'BoolOp':
      return `(${node.op}${at} ${list(node.values)})`
    case 'UnaryOp':
      return `(u${node.op}${at} ${expression(node.operand)})`
    case 'Compare':
      return `(cmp${at} ${expression(node.left)} ${node.comparisons.map((one) => `${one.op} ${expression(one.value)}`).join(' ')})`
    case 'IfExp':
      return `(ifexp${at} ${expression(node.test)} ${expression(node.body)} ${expression(node.orelse)})`
    case 'Lambda':
      return `(lambda${at} ${parameters(node.args)} ${expression(node.body)})`
    case 'Tuple':
    case 'List':
    case 'Set':
      return `(${node.kind.toLowerCase()}${at} ${list(node.items)})`
    case 'Dict':
      return `(dict${at} ${node.items.map((item) => `${optional(item.key)}:${expression(item.value)}`).join(' ')})`
    case 'Comprehension':
      return `(${node.of}comp${at} ${expression(node.element)} ${clauses(node.clauses)})`
    case 'DictComprehension':
      return `(dictcomp${at} ${expression(node.key)} ${expression(node.value)} ${clauses(node.clauses)})`
    case 'NamedExpr':
      return `(:=${at} ${node.target} ${expression(node.value)})`
    case 'Await':
      return `(await${at} ${expression(node.value)})`
    case 'Yield':
      return `(yield${at} ${optional(node.value)})`
    case 'YieldFrom':
      return `(yieldfrom${at} ${expression(node.value)})`
    case 'JoinedStr':
      return joined(node, at)
  }
}

const pattern = (node: ast.Pattern): string => {
  switch (node.kind) {
    case 'MatchValue':
      return `(val ${expression(node.value)})`
    case 'MatchSingleton':
      return constant(node.value)
    case 'MatchSequence':
      return `(seq ${node.patterns.map(pattern).join(' ')})`
    case 'MatchMapping':
      return `(map ${mapping(node.keys, node.patterns)} ${node.rest ?? '~'})`
    case 'MatchClass':
      return `(cls ${expression(node.cls)} ${node.patterns.map(pattern).join(' ')} ${node.keywords.map((one) => `${one.name}=${pattern(one.pattern)}`).join(' ')})`
    case 'MatchStar':
      return `(star ${node.name ?? '~'})`
    case 'MatchAs':
      return `(as ${node.pattern ? pattern(node.pattern) : '~'} ${node.name ?? '~'})`
    case 'MatchOr':
      return `(or ${node.patterns.map(pattern).join(' ')})`
  }
}

const mapping = (keys: ast.Expression[], patterns: ast.Pattern[]): string =>
  patterns.map((one, index) => `${optional(keys[index])}:${pattern(one)}`).join(' ')

const constant = (value: ast.Constant['value']): string => {
  if (value === undefined) return 'undef'
  if (value === null) return 'None'
  if (typeof value === 'boolean') return truth(value)
  if (typeof value === 'string') return quoted(value)
  if (typeof value === 'bigint') return `i${value.toString(16)}`
  return typeof value === 'number' ? `f${bits(value)}` : '...'
}

const bits = (value: number): string => {
  const buffer = Buffer.alloc(8)
  buffer.writeDoubleBE(value)
  return buffer.toString('hex')
}

const quoted = (text: string): string =>
  JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

const joined = (node: ast.JoinedStr, at: string): string => {
  const values = node.values.map((value) =>
    typeof value === 'string'
      ? quoted(value)
      : `{${expression(value.value)} ${value.conversion ?? '~'} ${value.spec ? joined(value.spec, '') : '~'}}`,
  )
  return `J${at}[${values.join(' ')}]`
}

const parameters = (args: ast.Arguments): string => {
  const all = [
    args.positionalOnly.map(parameter).join(' '),
    args.positional.map(parameter).join(' '),
    parameter(args.varargs),
    args.keywordOnly.map(parameter).join(' '),
    parameter(args.kwargs),
  ]
  return `args(${all.join('|')})`
}

const parameter = (one: ast.Parameter | undefined): string =>
  one ? `(${one.name} ${optional(one.annotation)} ${optional(one.default)})` : '~'

const clauses = (all: ast.ComprehensionClause[]): string =>
  `[${all.map((one) => `(${expression(one.target)} ${expression(one.iter)} ${list(one.conditions)})`).join(' ')}]`

const keyword = (one: ast.Keyword): string => `(${one.name ?? '**'} ${expression(one.value)})`

const aliases = (names: { name: string; asname: string | undefined }[]): string =>
  `[${names.map((one) => `${one.name}>${one.asname ?? '~'}`).join(' ')}]`

const truth = (value: boolean): string => (value ? 'True' : 'False')

const list = (nodes: ast.Expression[]): string => `[${nodes.map(expression).join(' ')}]`

const optional = (node: ast.Expression | undefined): string => (node ? expression(node) : '~')

const block = (nodes: ast.Statement[]): string => `{${nodes.map(statement).join(' ')}}`
