import type * as ast from '../../src/python/ast.ts'

/**
 * One line for each statement of a module, in a notation that CPython's tree can be printed in as well: `@` is the line,
 * `~` what is absent, `i` a hexadecimal int, `f` the bits of a float, `b` hexadecimal bytes. Chains of operators are
 * printed one within the other, as CPython has them.
 */
export const printTree = (module: ast.Module): string[] => module.body.map((node) => show(node))

/** Printed form of each kind: `<name>` is a field, `<name:form>` one whose objects have a form below. */
const FORMS: Record<string, string> = {
  FunctionDef: '(def@ <name> <args:arguments> [<decorators>] <isAsync> <isGenerator> {<body>})',
  ClassDef: '(class@ <name> [<bases>] [<keywords:keyword>] [<decorators>] {<body>})',
  Return: '(return@ <value>)',
  Delete: '(del@ [<targets>])',
  Assign: '(=@ [<targets>] <value>)',
  AugAssign: '(<op>=@ <target> <value>)',
  AnnAssign: '(ann@ <target> <annotation> <value>)',
  For: '(for@ <target> <iter> {<body>} {<orelse>})',
  While: '(while@ <test> {<body>} {<orelse>})',
  If: '(if@ <test> {<body>} {<orelse>})',
  With: '(with@ [<items:item>] {<body>})',
  Match: '(match@ <subject> <cases:case>)',
  Raise: '(raise@ <exception> <cause>)',
  Try: '(try@ {<body>} [<handlers:handler>] {<orelse>} {<finalbody>})',
  Assert: '(assert@ <test> <message>)',
  Import: '(import@ [<names:alias>])',
  ImportFrom: '(from@ <level> <module> [<names:alias>])',
  Global: '(Global@ <names>)',
  Nonlocal: '(Nonlocal@ <names>)',
  Expr: '(expr@ <value>)',
  Pass: 'Pass@',
  Break: 'Break@',
  Continue: 'Continue@',

  Name: '<id>@',
  Attribute: '(.@ <value> <attr>)',
  Subscript: '(sub@ <value> <index>)',
  Slice: '(slice@ <lower> <upper> <step>)',
  Starred: '(*@ <value>)',
  Call: '(call@ <func> [<args>] [<keywords:keyword>])',
  BoolOp: '(<op>@ [<values>])',
  UnaryOp: '(u<op>@ <operand>)',
  Compare: '(cmp@ <left> <comparisons:comparison>)',
  IfExp: '(ifexp@ <test> <body> <orelse>)',
  Lambda: '(lambda@ <args:arguments> <body>)',
  Tuple: '(tuple@ [<items>])',
  List: '(list@ [<items>])',
  Set: '(set@ [<items>])',
  Dict: '(dict@ <items:pair>)',
  Comprehension: '(<of>comp@ <element> [<clauses:clause>])',
  DictComprehension: '(dictcomp@ <key> <value> [<clauses:clause>])',
  NamedExpr: '(:=@ <target> <value>)',
  Await: '(await@ <value>)',
  Yield: '(yield@ <value>)',
  YieldFrom: '(yieldfrom@ <value>)',

  MatchValue: '(val <value>)',
  MatchAs: '(as <pattern> <name>)',
  MatchOther: '(other <names>)',

  arguments:
    'args(<positionalOnly:parameter>|<positional:parameter>|<varargs:parameter>|<keywordOnly:parameter>|<kwargs:parameter>)',
  parameter: '(<name> <annotation> <default>)',
  item: '(<context> <target>)',
  case: '(<pattern> <guard> {<body>})',
  handler: '(@<type> <name> {<body>})',
  alias: '<name>><asname>',
  comparison: '<op> <value>',
  pair: '<key>:<value>',
  clause: '(<target> <iter> [<conditions>])',
}

const show = (value: unknown, form?: string): string => {
  if (value === undefined) return '~'
  if (Array.isArray(value)) return value.map((one) => show(one, form)).join(' ')
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  if (form === 'keyword') return showKeyword(value as ast.Keyword)
  return form === undefined ? showNode(value as Node) : fill(form, value)
}

type Node = ast.Statement | ast.Expression | ast.Pattern

const showNode = (node: Node): string => {
  switch (node.kind) {
    case 'Constant':
      return `${constant(node.value)}@${node.line}`
    case 'Bytes':
      return `b${Buffer.from(node.value).toString('hex')}@${node.line}`
    case 'BinOp':
      return showChain(node)
    case 'JoinedStr':
      return joined(node, `@${node.line}`)
    default:
      return fill(node.kind, node)
  }
}

const fill = (form: string, of: unknown): string => {
  const fields = of as Record<string, unknown>
  return (FORMS[form] ?? 'unknown').replaceAll(
    /@|<(\w+)(?::(\w+))?>/g,
    (_, name?: string, inner?: string) =>
      name === undefined ? `@${String(fields['line'])}` : show(fields[name], inner),
  )
}

const showKeyword = ({ name = '**', value }: ast.Keyword): string => `(${name} ${show(value)})`

const showChain = ({ line, left, rights }: ast.BinOp): string =>
  rights.reduce((text, { op, value }) => `(${op}@${line} ${text} ${show(value)})`, show(left))

const constant = (value: ast.Constant['value']): string => {
  if (value === undefined) return 'undef'
  if (value === null) return 'None'
  if (typeof value === 'boolean') return show(value)
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
      : `{${show(value.value)} ${value.conversion ?? '~'} ${value.spec ? joined(value.spec, '') : '~'}}`,
  )
  return `J${at}[${values.join(' ')}]`
}
