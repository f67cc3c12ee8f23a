/**
 * The plain syntax tree of a Python file, shaped as CPython's `ast` module has it (names of nodes as there, fields in
 * camelCase) and free of the parser. Left out: what neither the interpreter nor the scan reads (type comments, type
 * parameters, expression contexts).
 *
 * `line` is 1-based: the first line of the node.
 *
 * A tree is shallow enough for recursive functions: expressions and patterns nest at most 406 levels (chains count once),
 * blocks 200, each `elif` counted. An expression that nests deeper is cut every 400 levels from its leaves up, a statement
 * in deeper blocks is broken, as are the further branches of a long chain of `elif`. CPython stops at 200 brackets and
 * 100 levels of indentation.
 */
export interface Module {
  kind: 'Module'
  body: Statement[]
  /** Text of each line, without its end; index 0 is line 1. */
  lines: string[]
  /** Statements that hold a syntax error and were left out: their lines, in order, none twice. */
  broken: BrokenStatement[]
  /** Lines of expressions that nest too deep and so are unknown: a Constant whose value is `undefined`. */
  cut: number[]
}

export interface BrokenStatement {
  line: number
  endLine: number
}

export type Statement =
  | FunctionDef
  | ClassDef
  | Return
  | Delete
  | Assign
  | AugAssign
  | AnnAssign
  | For
  | While
  | If
  | With
  | Match
  | Raise
  | Try
  | Assert
  | Import
  | ImportFrom
  | Global
  | Nonlocal
  | Expr
  | { kind: 'Pass'; line: number }
  | { kind: 'Break'; line: number }
  | { kind: 'Continue'; line: number }

export interface FunctionDef {
  kind: 'FunctionDef'
  line: number
  name: string
  args: Arguments
  body: Statement[]
  /** In source order. */
  decorators: Expression[]
  isAsync: boolean
  /** A `yield` of its own: calling it makes a generator. */
  isGenerator: boolean
}

export interface ClassDef {
  kind: 'ClassDef'
  line: number
  name: string
  bases: Expression[]
  keywords: Keyword[]
  body: Statement[]
  decorators: Expression[]
}

/** Defaults stand with their parameters. */
export interface Arguments {
  positionalOnly: Parameter[]
  positional: Parameter[]
  varargs: Parameter | undefined
  keywordOnly: Parameter[]
  kwargs: Parameter | undefined
}

export interface Parameter {
  name: string
  annotation: Expression | undefined
  default: Expression | undefined
}

export interface Return {
  kind: 'Return'
  line: number
  value: Expression | undefined
}

export interface Delete {
  kind: 'Delete'
  line: number
  targets: Expression[]
}

/** `a = b = value` has two targets. */
export interface Assign {
  kind: 'Assign'
  line: number
  targets: Expression[]
  value: Expression
}

export interface AugAssign {
  kind: 'AugAssign'
  line: number
  target: Expression
  op: BinaryOperator
  value: Expression
}

export interface AnnAssign {
  kind: 'AnnAssign'
  line: number
  target: Expression
  annotation: Expression
  value: Expression | undefined
}

export interface For {
  kind: 'For'
  line: number
  target: Expression
  iter: Expression
  body: Statement[]
  orelse: Statement[]
}

export interface While {
  kind: 'While'
  line: number
  test: Expression
  body: Statement[]
  orelse: Statement[]
}

/** `elif` is an If alone in `orelse`. */
export interface If {
  kind: 'If'
  line: number
  test: Expression
  body: Statement[]
  orelse: Statement[]
}

export interface With {
  kind: 'With'
  line: number
  items: { context: Expression; target: Expression | undefined }[]
  body: Statement[]
}

export interface Match {
  kind: 'Match'
  line: number
  subject: Expression
  cases: MatchCase[]
}

export interface MatchCase {
  pattern: Pattern
  guard: Expression | undefined
  body: Statement[]
}

export type Pattern =
  | { kind: 'MatchValue'; value: Expression }
  /** None, True, False: compared by identity. */
  | { kind: 'MatchSingleton'; value: null | boolean }
  | { kind: 'MatchSequence'; patterns: Pattern[] }
  /** `rest` is the name after `**`. */
  | { kind: 'MatchMapping'; keys: Expression[]; patterns: Pattern[]; rest: string | undefined }
  | {
      kind: 'MatchClass'
      cls: Expression
      patterns: Pattern[]
      keywords: { name: string; pattern: Pattern }[]
    }
  /** In a sequence; no name for `*_`. */
  | { kind: 'MatchStar'; name: string | undefined }
  /** A capture, `pattern as name`; neither of both is the wildcard `_`. */
  | { kind: 'MatchAs'; pattern: Pattern | undefined; name: string | undefined }
  | { kind: 'MatchOr'; patterns: Pattern[] }

export interface Raise {
  kind: 'Raise'
  line: number
  exception: Expression | undefined
  cause: Expression | undefined
}

export interface Try {
  kind: 'Try'
  line: number
  body: Statement[]
  handlers: ExceptHandler[]
  orelse: Statement[]
  finalbody: Statement[]
}

export interface ExceptHandler {
  line: number
  type: Expression | undefined
  name: string | undefined
  body: Statement[]
}

export interface Assert {
  kind: 'Assert'
  line: number
  test: Expression
  message: Expression | undefined
}

/** `import a.b as c`: name `a.b`, asname `c`. */
export interface Alias {
  name: string
  asname: string | undefined
}

export interface Import {
  kind: 'Import'
  line: number
  names: Alias[]
}

/** `from ..a import b`: level 2, module `a`. A star import has the one name `*`. */
export interface ImportFrom {
  kind: 'ImportFrom'
  line: number
  level: number
  module: string | undefined
  names: Alias[]
}

export interface Global {
  kind: 'Global'
  line: number
  names: string[]
}

export interface Nonlocal {
  kind: 'Nonlocal'
  line: number
  names: string[]
}

export interface Expr {
  kind: 'Expr'
  line: number
  value: Expression
}

export type Expression =
  | Constant
  | Bytes
  | JoinedStr
  | Name
  | Attribute
  | Subscript
  | Slice
  | Starred
  | Call
  | BinOp
  | BoolOp
  | UnaryOp
  | Compare
  | IfExp
  | Lambda
  | Tuple
  | List
  | Set
  | Dict
  | Comprehension
  | DictComprehension
  | NamedExpr
  | Await
  | Yield
  | YieldFrom

/**
 * A literal: null is None, bigint is int, number is float, string is str; implicit concatenation of plain strings is
 * done. `undefined` is unknown: imaginary numbers, an int of more than 5,000 digits, what is nested too deep. Names of
 * characters (`\N{DASH}`) stay as they are written. Two escapes that make a surrogate pair are one character here.
 */
export interface Constant {
  kind: 'Constant'
  line: number
  value: null | boolean | bigint | number | string | Ellipsis | undefined
}

export interface Ellipsis {
  kind: 'Ellipsis'
}

export interface Bytes {
  kind: 'Bytes'
  line: number
  value: Uint8Array
}

/** An f-string (or t-string), also one concatenated with plain strings: texts and fields in turn. */
export interface JoinedStr {
  kind: 'JoinedStr'
  line: number
  values: (string | FormattedValue)[]
}

/** `{value!r:spec}`. `{value=}` has its text in the string before it, and `conversion` `r` unless a spec or conversion is given. */
export interface FormattedValue {
  kind: 'FormattedValue'
  value: Expression
  conversion: 'r' | 's' | 'a' | undefined
  spec: JoinedStr | undefined
}

export interface Name {
  kind: 'Name'
  line: number
  id: string
}

export interface Attribute {
  kind: 'Attribute'
  line: number
  value: Expression
  attr: string
}

/** Several indexes are one Tuple. */
export interface Subscript {
  kind: 'Subscript'
  line: number
  value: Expression
  index: Expression
}

export interface Slice {
  kind: 'Slice'
  line: number
  lower: Expression | undefined
  upper: Expression | undefined
  step: Expression | undefined
}

export interface Starred {
  kind: 'Starred'
  line: number
  value: Expression
}

export interface Call {
  kind: 'Call'
  line: number
  func: Expression
  /** Starred for `*args`. A lone generator is a Comprehension. */
  args: Expression[]
  keywords: Keyword[]
}

/** Without a name it is `**value`. */
export interface Keyword {
  name: string | undefined
  value: Expression
}

export type BinaryOperator =
  | '+'
  | '-'
  | '*'
  | '/'
  | '//'
  | '%'
  | '**'
  | '@'
  | '&'
  | '|'
  | '^'
  | '<<'
  | '>>'

/**
 * A chain of left-associative operators of one level (`a + b - c`) is flat, because packs write strings and sums of
 * thousands of parts: `left`, then each of `rights` in turn.
 */
export interface BinOp {
  kind: 'BinOp'
  line: number
  left: Expression
  rights: { op: BinaryOperator; value: Expression }[]
}

/** Flat: `a and b and c` has three values. */
export interface BoolOp {
  kind: 'BoolOp'
  line: number
  op: 'and' | 'or'
  values: Expression[]
}

export interface UnaryOp {
  kind: 'UnaryOp'
  line: number
  op: 'not' | '-' | '+' | '~'
  operand: Expression
}

export type CompareOperator =
  | '=='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>='
  | 'in'
  | 'not in'
  | 'is'
  | 'is not'

export interface Compare {
  kind: 'Compare'
  line: number
  left: Expression
  comparisons: { op: CompareOperator; value: Expression }[]
}

export interface IfExp {
  kind: 'IfExp'
  line: number
  test: Expression
  body: Expression
  orelse: Expression
}

export interface Lambda {
  kind: 'Lambda'
  line: number
  args: Arguments
  body: Expression
}

export interface Tuple {
  kind: 'Tuple'
  line: number
  items: Expression[]
}

export interface List {
  kind: 'List'
  line: number
  items: Expression[]
}

export interface Set {
  kind: 'Set'
  line: number
  items: Expression[]
}

/** An item without a key is `**value`. */
export interface Dict {
  kind: 'Dict'
  line: number
  items: { key: Expression | undefined; value: Expression }[]
}

export interface Comprehension {
  kind: 'Comprehension'
  line: number
  of: 'list' | 'set' | 'generator'
  element: Expression
  clauses: ComprehensionClause[]
}

export interface DictComprehension {
  kind: 'DictComprehension'
  line: number
  key: Expression
  value: Expression
  clauses: ComprehensionClause[]
}

export interface ComprehensionClause {
  target: Expression
  iter: Expression
  conditions: Expression[]
}

export interface NamedExpr {
  kind: 'NamedExpr'
  line: number
  target: string
  value: Expression
}

export interface Await {
  kind: 'Await'
  line: number
  value: Expression
}

export interface Yield {
  kind: 'Yield'
  line: number
  value: Expression | undefined
}

export interface YieldFrom {
  kind: 'YieldFrom'
  line: number
  value: Expression
}
