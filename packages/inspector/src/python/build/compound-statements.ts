import type * as ast from '../ast.ts'
import {
  after,
  block,
  BROKEN,
  exprAt,
  find,
  findAll,
  has,
  indexOf,
  nameAt,
  valueAt,
  values,
} from '../kids.ts'
import type { Builders, Kids } from '../kids.ts'
import type { CallArguments } from './expressions.ts'
import { tupleOrOne } from './expressions.ts'
import type { AsPattern } from './with.ts'

const ifOrElif = (kids: Kids): ast.If => ({
  kind: 'If',
  line: kids.line,
  test: exprAt(kids, 1),
  body: block(kids),
  orelse: [],
})

const orElse = (kids: Kids): ast.Statement[] => (find(kids, 'else_clause') ?? []) as ast.Statement[]

/** `except A as b:`, `except* A:`, `except A, B:` (a tuple since 3.14). */
const exceptClause = (kids: Kids): ast.ExceptHandler | typeof BROKEN => {
  const start = nameAt(kids, 1) === '*' ? 2 : 1
  const stop = indexOf(kids, ':')
  const body = block(kids)
  if (start === stop) return { line: kids.line, type: undefined, name: undefined, body }
  const first = valueAt(kids, start) as ast.Expression | AsPattern
  if (first.kind !== 'AsPattern' && !has(kids, 'as')) {
    return { line: kids.line, type: tupleOrOne(kids, start, stop), name: undefined, body }
  }
  const type = first.kind === 'AsPattern' ? first.context : first
  const target = first.kind === 'AsPattern' ? first.target : exprAt(kids, indexOf(kids, 'as') + 1)
  return target.kind === 'Name' ? { line: kids.line, type, name: target.id, body } : BROKEN
}

const nameOf = (kids: Kids): string => (find(kids, 'identifier') as ast.Name | undefined)?.id ?? ''

export const compoundStatementBuilders: Builders = {
  block: (kids) => values(kids),
  if_statement: (kids): ast.If => {
    const branches = [ifOrElif(kids), ...(findAll(kids, 'elif_clause') as ast.If[])]
    let orelse = orElse(kids)
    for (const branch of branches.toReversed()) {
      branch.orelse = orelse
      orelse = [branch]
    }
    return branches[0] as ast.If
  },
  elif_clause: ifOrElif,
  else_clause: block,
  finally_clause: block,
  while_statement: (kids): ast.While => ({
    kind: 'While',
    line: kids.line,
    test: exprAt(kids, 1),
    body: block(kids),
    orelse: orElse(kids),
  }),
  for_statement: (kids): ast.For => ({
    kind: 'For',
    line: kids.line,
    target: exprAt(kids, indexOf(kids, 'for') + 1),
    iter: exprAt(kids, indexOf(kids, 'in') + 1),
    body: block(kids),
    orelse: orElse(kids),
  }),
  try_statement: (kids): ast.Try => ({
    kind: 'Try',
    line: kids.line,
    body: block(kids),
    handlers: findAll(kids, 'except_clause') as ast.ExceptHandler[],
    orelse: orElse(kids),
    finalbody: (find(kids, 'finally_clause') ?? []) as ast.Statement[],
  }),
  except_clause: exceptClause,
  function_definition: (kids): ast.FunctionDef => ({
    kind: 'FunctionDef',
    line: kids.line,
    name: nameOf(kids),
    args: find(kids, 'parameters') as ast.Arguments | undefined as ast.Arguments,
    returns: after(kids, '->') as ast.Expression | undefined,
    body: block(kids),
    decorators: [],
    isAsync: nameAt(kids, 0) === 'async',
    isGenerator: kids.bodyYields,
  }),
  class_definition: (kids): ast.ClassDef => {
    const list = find(kids, 'argument_list') as CallArguments | undefined
    return {
      kind: 'ClassDef',
      line: kids.line,
      name: nameOf(kids),
      bases: list?.args ?? [],
      keywords: list?.keywords ?? [],
      body: block(kids),
      decorators: [],
    }
  },
  decorated_definition: (kids): ast.FunctionDef | ast.ClassDef => {
    const all = values(kids) as (ast.Expression | ast.FunctionDef | ast.ClassDef)[]
    const definition = all.pop() as ast.FunctionDef | ast.ClassDef
    definition.decorators = all as ast.Expression[]
    return definition
  },
  decorator: (kids) => exprAt(kids, 1),
  match_statement: (kids): ast.Match => ({
    kind: 'Match',
    line: kids.line,
    subject: tupleOrOne(kids, 1, indexOf(kids, ':')),
    cases: (find(kids, 'block') ?? []) as ast.MatchCase[],
  }),
}
