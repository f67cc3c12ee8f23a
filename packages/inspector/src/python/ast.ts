import type { PythonSyntaxError } from './syntax-errors.ts'

/**
 * The plain syntax tree of a Python file, shaped as CPython's `ast` module has it (names of nodes as there, fields in
 * camelCase) and free of the parser. Left out: what neither the interpreter nor the scan reads (type comments, type
 * parameters, expression contexts).
 *
 * A tree is shallow enough for recursive functions: expressions and patterns nest at most 406 levels (chains count once),
 * blocks 200, each `elif` counted. An expression that nests deeper is cut every 400 levels from its leaves up, a statement
 * in deeper blocks is broken, as are the further branches of a long chain of `elif`. CPython stops at 200 brackets and
 * 100 levels of indentation.
 */
export interface Module {
  kind: 'Module'
  body: Statement[]
  /** That of the file. */
  text: string
  /** Statements that hold a syntax error and were left out: their lines, in order, none twice. */
  broken: BrokenStatement[]
  /** Lines of expressions that nest too deep and so are unknown: a Constant whose value is `undefined`. */
  cut: number[]
  /** CPython does not compile it. */
  syntaxError: PythonSyntaxError | undefined
}

export interface BrokenStatement {
  line: number
  endLine: number
}

/** Statements and expressions know their first line, 1-based. */
interface Node<Kind extends string> {
  kind: Kind
  line: number
}

interface Holding<Kind extends string> extends Node<Kind> {
  value: Expression
}

interface Display<Kind extends string> extends Node<Kind> {
  items: Expression[]
}

interface Naming<Kind extends string> extends Node<Kind> {
  names: string[]
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
  | Node<'Pass'>
  | Node<'Break'>
  | Node<'Continue'>

export interface FunctionDef extends Node<'FunctionDef'> {
  name: string
  args: Arguments
  returns: Expression | undefined
  body: Statement[]
  /** In source order. */
  decorators: Expression[]
  isAsync: boolean
  /** A `yield` of its own: calling it makes a generator. */
  isGenerator: boolean
  /** `def f[T]`. */
  typeParameters?: string[]
}

export interface ClassDef extends Node<'ClassDef'> {
  name: string
  bases: Expression[]
  keywords: Keyword[]
  body: Statement[]
  decorators: Expression[]
  /** `class A[T]`. */
  typeParameters?: string[]
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

export interface Return extends Node<'Return'> {
  value: Expression | undefined
}

export interface Delete extends Node<'Delete'> {
  targets: Expression[]
}

/** `a = b = value` has two targets. */
export interface Assign extends Node<'Assign'> {
  targets: Expression[]
  value: Expression
  /** `type X = …`: the value is evaluated only when it is asked for. */
  isAlias?: true
}

export interface AugAssign extends Node<'AugAssign'> {
  target: Expression
  op: BinaryOperator
  value: Expression
}

export interface AnnAssign extends Node<'AnnAssign'> {
  target: Expression
  annotation: Expression
  value: Expression | undefined
}

export interface For extends Node<'For'> {
  target: Expression
  iter: Expression
  body: Statement[]
  orelse: Statement[]
}

export interface While extends Node<'While'> {
  test: Expression
  body: Statement[]
  orelse: Statement[]
}

/** `elif` is an If alone in `orelse`. */
export interface If extends Node<'If'> {
  test: Expression
  body: Statement[]
  orelse: Statement[]
}

export interface With extends Node<'With'> {
  items: { context: Expression; target: Expression | undefined }[]
  body: Statement[]
}

export interface Match extends Node<'Match'> {
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
  /** A capture, `pattern as name`; neither of both is the wildcard `_`. */
  | { kind: 'MatchAs'; pattern: Pattern | undefined; name: string | undefined }
  /** Any other: it binds these names, and its form is not followed. */
  | { kind: 'MatchOther'; names: string[] }

export interface Raise extends Node<'Raise'> {
  exception: Expression | undefined
  cause: Expression | undefined
}

export interface Try extends Node<'Try'> {
  body: Statement[]
  handlers: ExceptHandler[]
  orelse: Statement[]
  finalbody: Statement[]
}

export interface ExceptHandler {
  line: number
  type: Expression | undefined
  /** `except* A`. */
  isGroup?: true
  name: string | undefined
  body: Statement[]
}

export interface Assert extends Node<'Assert'> {
  test: Expression
  message: Expression | undefined
}

/** `import a.b as c`: name `a.b`, asname `c`. */
export interface Alias {
  name: string
  asname: string | undefined
}

export interface Import extends Node<'Import'> {
  names: Alias[]
}

/** `from ..a import b`: level 2, module `a`. A star import has the one name `*`. */
export interface ImportFrom extends Node<'ImportFrom'> {
  level: number
  module: string | undefined
  names: Alias[]
}

export type Global = Naming<'Global'>
export type Nonlocal = Naming<'Nonlocal'>
export type Expr = Holding<'Expr'>

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
export interface Constant extends Node<'Constant'> {
  value: null | boolean | bigint | number | string | Ellipsis | undefined
}

export interface Ellipsis {
  kind: 'Ellipsis'
}

export interface Bytes extends Node<'Bytes'> {
  value: Uint8Array
}

/** An f-string (or t-string), also one concatenated with plain strings: texts and fields in turn. */
export interface JoinedStr extends Node<'JoinedStr'> {
  values: (string | FormattedValue)[]
}

/** `{value!r:spec}`. `{value=}` has its text in the string before it, and `conversion` `r` unless a spec or conversion is given. */
export interface FormattedValue {
  kind: 'FormattedValue'
  value: Expression
  conversion: 'r' | 's' | 'a' | undefined
  spec: JoinedStr | undefined
}

export interface Name extends Node<'Name'> {
  id: string
}

export interface Attribute extends Node<'Attribute'> {
  value: Expression
  attr: string
}

/** Several indexes are one Tuple. */
export interface Subscript extends Node<'Subscript'> {
  value: Expression
  index: Expression
}

export interface Slice extends Node<'Slice'> {
  lower: Expression | undefined
  upper: Expression | undefined
  step: Expression | undefined
}

export type Starred = Holding<'Starred'>

export interface Call extends Node<'Call'> {
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
export interface BinOp extends Node<'BinOp'> {
  left: Expression
  rights: { op: BinaryOperator; value: Expression }[]
}

/** Flat: `a and b and c` has three values. */
export interface BoolOp extends Node<'BoolOp'> {
  op: 'and' | 'or'
  values: Expression[]
}

export interface UnaryOp extends Node<'UnaryOp'> {
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

export interface Compare extends Node<'Compare'> {
  left: Expression
  comparisons: { op: CompareOperator; value: Expression }[]
}

export interface IfExp extends Node<'IfExp'> {
  test: Expression
  body: Expression
  orelse: Expression
}

export interface Lambda extends Node<'Lambda'> {
  args: Arguments
  body: Expression
  isGenerator: boolean
}

export type Tuple = Display<'Tuple'>
export type List = Display<'List'>
export type Set = Display<'Set'>

/** An item without a key is `**value`. */
export interface Dict extends Node<'Dict'> {
  items: { key: Expression | undefined; value: Expression }[]
}

export interface Comprehension extends Node<'Comprehension'> {
  of: 'list' | 'set' | 'generator'
  element: Expression
  clauses: ComprehensionClause[]
}

export interface DictComprehension extends Node<'DictComprehension'> {
  key: Expression
  value: Expression
  clauses: ComprehensionClause[]
}

export interface ComprehensionClause {
  target: Expression
  iter: Expression
  conditions: Expression[]
}

export interface NamedExpr extends Node<'NamedExpr'> {
  target: string
  value: Expression
}

export type Await = Holding<'Await'>

export interface Yield extends Node<'Yield'> {
  value: Expression | undefined
}

export type YieldFrom = Holding<'YieldFrom'>
