import type * as ast from '../ast.ts'
import { after, BROKEN, exprAt, exprs, find, nameAt, values } from '../kids.ts'
import type { Builder, Builders, Kids } from '../kids.ts'
import { tupleOrOne } from './expressions.ts'

const ASSIGNMENTS = new Set(['Assign', 'AugAssign', 'AnnAssign'])

const annotated = (
  kids: Kids,
  target: ast.Expression,
  value: ast.Expression | ast.Statement | undefined,
): ast.Statement | typeof BROKEN => {
  if (value && ASSIGNMENTS.has(value.kind)) return BROKEN
  return {
    kind: 'AnnAssign',
    line: kids.line,
    target,
    annotation: exprAt(kids, 2),
    value: value as ast.Expression | undefined,
  }
}

const scoping =
  (kind: 'Global' | 'Nonlocal'): Builder =>
  (kids): ast.Global | ast.Nonlocal => ({
    kind,
    line: kids.line,
    names: (values(kids) as ast.Name[]).map((name) => name.id),
  })

const statementOfCall = (
  kids: Kids,
  id: string,
  args: ast.Expression[],
  keywords: ast.Keyword[],
): ast.Expr => {
  const { line } = kids
  return {
    kind: 'Expr',
    line,
    value: { kind: 'Call', line, func: { kind: 'Name', line, id }, args, keywords },
  }
}

/** `type Name[T] = value`: the type parameters are left out. */
const typeAlias = (kids: Kids): ast.Assign | ast.AnnAssign => {
  const left = exprAt(kids, 1)
  const value = exprAt(kids, 3)
  const { line } = kids
  const name = nameAt(kids, 1)
  if (name === 'identifier') return { kind: 'Assign', line, targets: [left], value }
  if (name === 'generic_type' && left.kind === 'Subscript') {
    return { kind: 'Assign', line, targets: [left.value], value }
  }
  if (left.kind !== 'Slice' || !left.lower || !left.upper) {
    return { kind: 'Assign', line, targets: [targetOfCall(kids, left)], value }
  }
  const target = targetOfCall(kids, left.lower)
  return { kind: 'AnnAssign', line, target, annotation: left.upper, value }
}

/** The grammar takes `type(self).total = 0` for an alias of the name `(self).total`. */
const targetOfCall = (kids: Kids, target: ast.Expression): ast.Expression => {
  let innermost = target
  let above: ast.Attribute | ast.Subscript | ast.Call | undefined
  for (;;) {
    const inner = innerOf(innermost)
    if (!inner) break
    above = innermost as ast.Attribute | ast.Subscript | ast.Call
    innermost = inner
  }
  const call = callOfType(kids.line, innermost)
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
  expression_statement: (kids): ast.Statement => {
    const value = exprAt(kids, 0) as ast.Expression | ast.Statement
    if (!ASSIGNMENTS.has(value.kind)) {
      return { kind: 'Expr', line: kids.line, value: tupleOrOne(kids) }
    }
    if (value.kind === 'Assign') value.targets.reverse()
    return value as ast.Statement
  },
  /** The targets of `a = b = c` gather from the right, to be turned round once. */
  assignment: (kids): ast.Statement | typeof BROKEN => {
    const target = exprAt(kids, 0)
    const value = after(kids, '=') as ast.Expression | ast.Statement | undefined
    if (nameAt(kids, 1) === ':') return annotated(kids, target, value)
    if (value?.kind === 'Assign') {
      value.targets.push(target)
      value.line = kids.line
      return value
    }
    if (!value || ASSIGNMENTS.has(value.kind)) return BROKEN
    return { kind: 'Assign', line: kids.line, targets: [target], value: value as ast.Expression }
  },
  augmented_assignment: (kids): ast.AugAssign | typeof BROKEN => {
    const value = exprAt(kids, 2)
    if (ASSIGNMENTS.has(value.kind)) return BROKEN
    const op = nameAt(kids, 1).slice(0, -1) as ast.BinaryOperator
    return { kind: 'AugAssign', line: kids.line, target: exprAt(kids, 0), op, value }
  },
  return_statement: (kids): ast.Return => ({
    kind: 'Return',
    line: kids.line,
    value: exprs(kids)[0],
  }),
  delete_statement: (kids): ast.Delete => {
    const value = exprAt(kids, 1)
    const listed = nameAt(kids, 1) === 'expression_list' && value.kind === 'Tuple'
    return { kind: 'Delete', line: kids.line, targets: listed ? value.items : [value] }
  },
  raise_statement: (kids): ast.Raise => ({
    kind: 'Raise',
    line: kids.line,
    exception: nameAt(kids, 1) === 'from' ? undefined : exprs(kids)[0],
    cause: after(kids, 'from') as ast.Expression | undefined,
  }),
  assert_statement: (kids): ast.Assert => {
    const [test, message] = exprs(kids)
    return { kind: 'Assert', line: kids.line, test: test as ast.Expression, message }
  },
  global_statement: scoping('Global'),
  nonlocal_statement: scoping('Nonlocal'),
  /** `print a, b` and `print >>file, a` of Python 2 as calls of the function. */
  print_statement: (kids): ast.Expr => {
    const file = find(kids, 'chevron') as ast.Expression | undefined
    const args = exprs(kids, file ? 2 : 1)
    return statementOfCall(kids, 'print', args, file ? [{ name: 'file', value: file }] : [])
  },
  chevron: (kids) => exprAt(kids, 1),
  /** `exec code in globals, locals` of Python 2. */
  exec_statement: (kids): ast.Expr => statementOfCall(kids, 'exec', exprs(kids, 1), []),
  type_alias_statement: typeAlias,
}
