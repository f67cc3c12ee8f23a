import type {
  Arguments,
  ClassDef,
  ExceptHandler,
  Expression,
  For,
  FunctionDef,
  If,
  Match,
  MatchCase,
  Name,
  Statement,
  Try,
  While,
} from '../ast.ts'
import { block, BROKEN, exprAt, find, has, indexOf, nameAt, valueAt, values } from '../kids.ts'
import type { Builders, Kids } from '../kids.ts'
import type { CallArguments } from './expressions.ts'
import { tupleOrOne } from './expressions.ts'
import type { AsPattern } from './with.ts'

const ifStatement = (kids: Kids): If => {
  const branches = [ifOrElif(kids), ...alternatives(kids)]
  let orelse = (find(kids, 'else_clause') as Statement[] | undefined) ?? []
  for (const branch of branches.toReversed()) {
    branch.orelse = orelse
    orelse = [branch]
  }
  return branches[0] as If
}

const alternatives = (kids: Kids): If[] => {
  const found: If[] = []
  for (let at = kids.base; at < kids.size; at += 1) {
    if (kids.names[at] === 'elif_clause') found.push(kids.values[at] as If)
  }
  return found
}

const ifOrElif = (kids: Kids): If => ({
  kind: 'If',
  line: kids.line,
  test: exprAt(kids, 1),
  body: block(kids),
  orelse: [],
})

const orElse = (kids: Kids): Statement[] => (find(kids, 'else_clause') ?? []) as Statement[]

const whileStatement = (kids: Kids): While => ({
  kind: 'While',
  line: kids.line,
  test: exprAt(kids, 1),
  body: block(kids),
  orelse: orElse(kids),
})

const forStatement = (kids: Kids): For => ({
  kind: 'For',
  line: kids.line,
  target: exprAt(kids, indexOf(kids, 'for') + 1),
  iter: exprAt(kids, indexOf(kids, 'in') + 1),
  body: block(kids),
  orelse: orElse(kids),
})

const tryStatement = (kids: Kids): Try => {
  const handlers: ExceptHandler[] = []
  for (let at = kids.base; at < kids.size; at += 1) {
    if (kids.names[at] === 'except_clause') handlers.push(kids.values[at] as ExceptHandler)
  }
  const finalbody = (find(kids, 'finally_clause') as Statement[] | undefined) ?? []
  return {
    kind: 'Try',
    line: kids.line,
    body: block(kids),
    handlers,
    orelse: orElse(kids),
    finalbody,
  }
}

/** `except A as b:`, `except* A:`, `except A, B:` (a tuple since 3.14). */
const exceptClause = (kids: Kids): ExceptHandler | typeof BROKEN => {
  const start = nameAt(kids, 1) === '*' ? 2 : 1
  const stop = indexOf(kids, ':')
  const body = block(kids)
  if (start === stop) return { line: kids.line, type: undefined, name: undefined, body }
  const first = valueAt(kids, start) as Expression | AsPattern
  if (first.kind !== 'AsPattern' && !has(kids, 'as')) {
    return { line: kids.line, type: tupleOrOne(kids, start, stop), name: undefined, body }
  }
  const type = first.kind === 'AsPattern' ? first.context : first
  const target = first.kind === 'AsPattern' ? first.target : exprAt(kids, indexOf(kids, 'as') + 1)
  return target.kind === 'Name' ? { line: kids.line, type, name: target.id, body } : BROKEN
}

const functionDefinition = (kids: Kids): FunctionDef => ({
  kind: 'FunctionDef',
  line: kids.line,
  name: (find(kids, 'identifier') as Name | undefined)?.id ?? '',
  args: find(kids, 'parameters') as Arguments | undefined as Arguments,
  body: block(kids),
  decorators: [],
  isAsync: nameAt(kids, 0) === 'async',
  isGenerator: kids.bodyYields,
})

const classDefinition = (kids: Kids): ClassDef => {
  const list = find(kids, 'argument_list') as CallArguments | undefined
  return {
    kind: 'ClassDef',
    line: kids.line,
    name: (find(kids, 'identifier') as Name | undefined)?.id ?? '',
    bases: list?.args ?? [],
    keywords: list?.keywords ?? [],
    body: block(kids),
    decorators: [],
  }
}

const decorated = (kids: Kids): FunctionDef | ClassDef => {
  const all = values(kids) as (Expression | FunctionDef | ClassDef)[]
  const definition = all.pop() as FunctionDef | ClassDef
  definition.decorators = all as Expression[]
  return definition
}

const matchStatement = (kids: Kids): Match => ({
  kind: 'Match',
  line: kids.line,
  subject: tupleOrOne(kids, 1, indexOf(kids, ':')),
  cases: ((find(kids, 'block') as unknown[] | undefined) ?? []) as MatchCase[],
})

const blockOf = (kids: Kids): Statement[] => block(kids)

export const compoundStatementBuilders: Builders = {
  block: (kids) => values(kids),
  if_statement: ifStatement,
  elif_clause: ifOrElif,
  else_clause: blockOf,
  finally_clause: blockOf,
  while_statement: whileStatement,
  for_statement: forStatement,
  try_statement: tryStatement,
  except_clause: exceptClause,
  function_definition: functionDefinition,
  class_definition: classDefinition,
  decorated_definition: decorated,
  decorator: (kids) => exprAt(kids, 1),
  match_statement: matchStatement,
}
