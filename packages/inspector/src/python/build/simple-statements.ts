import type * as ast from '../ast.ts'
import {
  after,
  at,
  BROKEN,
  exprAt,
  exprs,
  find,
  first,
  gather,
  has,
  indexOf,
  nameAt,
  node,
  valueAt,
  values,
} from '../children.ts'
import type { Builder, Builders, Children } from '../children.ts'
import { tupleOrOne } from './expressions.ts'

const ASSIGNMENTS = new Set(['Assign', 'AugAssign', 'AnnAssign'])

const annotated = (
  children: Children,
  target: ast.Expression,
  value: ast.Expression | ast.Statement | undefined,
): ast.Statement | typeof BROKEN => {
  if (value && ASSIGNMENTS.has(value.kind)) return BROKEN
  return {
    kind: 'AnnAssign',
    line: children.line,
    target,
    annotation: exprAt(children, 2),
    value: value as ast.Expression | undefined,
  }
}

const namesOf = (children: Children): string[] =>
  (values(children) as ast.Name[]).map((name) => name.id)

const scoping = (kind: 'Global' | 'Nonlocal'): Builder =>
  node<ast.Global | ast.Nonlocal>(kind, { names: namesOf })

const statementOfCall = (
  children: Children,
  id: string,
  args: ast.Expression[],
  keywords: ast.Keyword[],
): ast.Expr => {
  const { line } = children
  return {
    kind: 'Expr',
    line,
    value: { kind: 'Call', line, func: { kind: 'Name', line, id }, args, keywords },
  }
}

/** `type Name[T] = value`: the type parameters are left out. */
const typeAlias = (children: Children): ast.Assign | ast.AnnAssign => {
  const left = exprAt(children, 1)
  const value = exprAt(children, 3)
  const { line } = children
  const name = nameAt(children, 1)
  const alias = { kind: 'Assign', line, value, isAlias: true } as const
  if (name === 'identifier') return { ...alias, targets: [left] }
  if (name === 'generic_type' && left.kind === 'Subscript') {
    return { ...alias, targets: [left.value] }
  }
  if (left.kind !== 'Slice' || !left.lower || !left.upper) {
    return { kind: 'Assign', line, targets: [targetOfCall(children, left)], value }
  }
  const target = targetOfCall(children, left.lower)
  return { kind: 'AnnAssign', line, target, annotation: left.upper, value }
}

/** The grammar takes `type(self).total = 0` for an alias of the name `(self).total`. */
const targetOfCall = (children: Children, target: ast.Expression): ast.Expression => {
  let innermost = target
  let above: ast.Attribute | ast.Subscript | ast.Call | undefined
  for (;;) {
    const inner = innerOf(innermost)
    if (!inner) break
    above = innermost as ast.Attribute | ast.Subscript | ast.Call
    innermost = inner
  }
  const call = callOfType(children.line, innermost)
  if (!above) return call
  if (above.kind === 'Call') above.func = call
  else above.value = call
  return target
}

const innerOf = (expression: ast.Expression): ast.Expression | undefined => {
  if (expression.kind === 'Attribute' || expression.kind === 'Subscript') return expression.value
  return expression.kind === 'Call' ? expression.func : undefined
}

const callOfType = (line: number, operand: ast.Expression): ast.Call | ast.Subscript => {
  const func: ast.Name = { kind: 'Name', line, id: 'type' }
  if (operand.kind === 'List') {
    const [index = operand] = operand.items
    return { kind: 'Subscript', line, value: func, index }
  }
  // The class of three arguments; one argument in parentheses is itself.
  const args = operand.kind === 'Tuple' && operand.items.length === 3 ? operand.items : [operand]
  return { kind: 'Call', line, func, args, keywords: [] }
}

export const simpleStatementBuilders: Builders = {
  /** An assignment stands in an expression statement and, chained, to the right of another one. */
  expression_statement: (children): ast.Statement => {
    const value = exprAt(children, 0) as ast.Expression | ast.Statement
    if (!ASSIGNMENTS.has(value.kind)) {
      return { kind: 'Expr', line: children.line, value: tupleOrOne(children) }
    }
    if (value.kind === 'Assign') value.targets.reverse()
    return value as ast.Statement
  },
  /** The targets of `a = b = c` gather from the right, to be turned round once. */
  assignment: (children): ast.Statement | typeof BROKEN => {
    const target = exprAt(children, 0)
    const value = after(children, '=') as ast.Expression | ast.Statement | undefined
    if (nameAt(children, 1) === ':') return annotated(children, target, value)
    if (value?.kind === 'Assign') {
      value.targets.push(target)
      value.line = children.line
      return value
    }
    if (!value || ASSIGNMENTS.has(value.kind)) return BROKEN
    return {
      kind: 'Assign',
      line: children.line,
      targets: [target],
      value: value as ast.Expression,
    }
  },
  augmented_assignment: (children): ast.AugAssign | typeof BROKEN => {
    const value = exprAt(children, 2)
    if (ASSIGNMENTS.has(value.kind)) return BROKEN
    const op = nameAt(children, 1).slice(0, -1) as ast.BinaryOperator
    return { kind: 'AugAssign', line: children.line, target: exprAt(children, 0), op, value }
  },
  return_statement: node<ast.Return>('Return', { value: first }),
  delete_statement: (children): ast.Delete => {
    const value = exprAt(children, 1)
    const listed = nameAt(children, 1) === 'expression_list' && value.kind === 'Tuple'
    return { kind: 'Delete', line: children.line, targets: listed ? value.items : [value] }
  },
  raise_statement: (children): ast.Raise => {
    if (nameAt(children, 1) === 'expression_list') children.error = 'invalid syntax'
    return {
      kind: 'Raise',
      line: children.line,
      exception: nameAt(children, 1) === 'from' ? undefined : first(children),
      cause: after(children, 'from') as ast.Expression | undefined,
    }
  },
  assert_statement: (children): ast.Assert => {
    const [test, message] = exprs(children)
    return { kind: 'Assert', line: children.line, test: test as ast.Expression, message }
  },
  global_statement: scoping('Global'),
  nonlocal_statement: scoping('Nonlocal'),
  /** `print a, b` and `print >>file, a` of Python 2 as calls of the function. */
  print_statement: (children): ast.Expr => {
    const file = find(children, 'chevron') as ast.Expression | undefined
    const args = exprs(children, file ? 2 : 1)
    if (!file) children.error = "missing parentheses in call to 'print'"
    return statementOfCall(children, 'print', args, file ? [{ name: 'file', value: file }] : [])
  },
  chevron: at(1),
  /** `exec code in globals, locals` of Python 2. */
  exec_statement: (children): ast.Expr => statementOfCall(children, 'exec', exprs(children, 1), []),
  type_alias_statement: typeAlias,
}

interface RelativeImport {
  level: number
  module: string | undefined
}

const importFrom = (children: Children): ast.ImportFrom => {
  const from = source(children)
  const names = has(children, 'wildcard_import')
    ? [{ name: '*', asname: undefined }]
    : aliases(children, indexOf(children, 'import') + 1)
  return { kind: 'ImportFrom', line: children.line, ...from, names }
}

const source = (children: Children): RelativeImport => {
  if (nameAt(children, 1) === 'relative_import') return valueAt(children, 1) as RelativeImport
  const isFuture = nameAt(children, 1) === '__future__'
  return { level: 0, module: isFuture ? '__future__' : (valueAt(children, 1) as string) }
}

const aliases = (children: Children, from: number): ast.Alias[] => gather(children, readAlias, from)

const readAlias = (name: string, value: unknown): ast.Alias | undefined => {
  if (name === 'aliased_import') return value as ast.Alias
  return name === 'dotted_name' ? { name: value as string, asname: undefined } : undefined
}

export const importBuilders: Builders = {
  import_statement: node<ast.Import>('Import', { names: (children) => aliases(children, 1) }),
  import_from_statement: importFrom,
  future_import_statement: importFrom,
  aliased_import: (children): ast.Alias => ({
    name: valueAt(children, 0) as string,
    asname: (valueAt(children, 2) as ast.Name).id,
  }),
  relative_import: (children): RelativeImport => ({
    level: valueAt(children, 0) as number,
    module: find(children, 'dotted_name') as string | undefined,
  }),
  dotted_name: (children) => namesOf(children).join('.'),
}
