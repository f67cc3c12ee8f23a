import type * as ast from '../ast.ts'
import {
  after,
  at,
  block,
  BROKEN,
  exprAt,
  find,
  findAll,
  has,
  indexOf,
  nameAt,
  node,
  valueAt,
  values,
} from '../children.ts'
import type { Builders, Children } from '../children.ts'
import { tupleOrOne, type CallArguments } from './expressions.ts'
import type { AsPattern } from './with.ts'

const ifOrElif = node<ast.If>('If', { test: at(1), body: block, orelse: () => [] })

const orElse = (children: Children): ast.Statement[] =>
  (find(children, 'else_clause') ?? []) as ast.Statement[]

/** Calls the builder of `except*`, or that of `except`. */
const exceptAny = (children: Children): ast.ExceptHandler | typeof BROKEN => {
  const handler = exceptClause(children)
  if (handler !== BROKEN && nameAt(children, 1) === '*') handler.isGroup = true
  return handler
}

/** `except A as b:`, `except* A:`, `except A, B:` (a tuple since 3.14, before which it is none). */
const exceptClause = (children: Children): ast.ExceptHandler | typeof BROKEN => {
  const start = nameAt(children, 1) === '*' ? 2 : 1
  const stop = indexOf(children, ':')
  const body = block(children)
  if (start === stop) return { line: children.line, type: undefined, name: undefined, body }
  const first = valueAt(children, start) as ast.Expression | AsPattern
  if (first.kind !== 'AsPattern' && !has(children, 'as')) {
    if (has(children, ',')) children.error = 'multiple exception types must be parenthesized'
    return { line: children.line, type: tupleOrOne(children, start, stop), name: undefined, body }
  }
  const type = first.kind === 'AsPattern' ? first.context : first
  const target =
    first.kind === 'AsPattern' ? first.target : exprAt(children, indexOf(children, 'as') + 1)
  return target.kind === 'Name' ? { line: children.line, type, name: target.id, body } : BROKEN
}

const nameOf = (children: Children): string =>
  (find(children, 'identifier') as ast.Name | undefined)?.id ?? ''

const withTypes = <T extends ast.FunctionDef | ast.ClassDef>(children: Children, node: T): T => {
  const types = find(children, 'type_parameter')
  if (types) node.typeParameters = namesIn(types as ast.Expression)
  return node
}

/** Names in `[T, U: int, *V]`. */
const namesIn = (types: ast.Expression): string[] => {
  if (types.kind === 'Name') return [types.id]
  if (types.kind === 'Tuple') return types.items.flatMap(namesIn)
  if (types.kind === 'Slice') return types.lower ? namesIn(types.lower) : []
  return types.kind === 'Starred' ? namesIn(types.value) : []
}

export const compoundStatementBuilders: Builders = {
  block: (children) => {
    const body = values(children)
    if (body.length === 0) children.error = 'expected an indented block'
    return body
  },
  if_statement: (children): ast.If => {
    const branches = [ifOrElif(children), ...(findAll(children, 'elif_clause') as ast.If[])]
    let orelse = orElse(children)
    for (const branch of branches.toReversed()) {
      branch.orelse = orelse
      orelse = [branch]
    }
    return branches[0] as ast.If
  },
  elif_clause: ifOrElif,
  else_clause: block,
  finally_clause: block,
  while_statement: node<ast.While>('While', { test: at(1), body: block, orelse: orElse }),
  for_statement: node<ast.For>('For', {
    target: (children) => after(children, 'for') as ast.Expression,
    iter: (children) => after(children, 'in') as ast.Expression,
    body: block,
    orelse: orElse,
  }),
  try_statement: (children): ast.Try => {
    const handlers = findAll(children, 'except_clause') as ast.ExceptHandler[]
    const finalbody = (find(children, 'finally_clause') ?? []) as ast.Statement[]
    if (handlers.length === 0 && !has(children, 'finally_clause'))
      children.error = "expected 'except' or 'finally' block"
    if (handlers.slice(0, -1).some(({ type }) => type === undefined))
      children.error = "default 'except:' must be last"
    const { line } = children
    return {
      kind: 'Try',
      line,
      body: block(children),
      handlers,
      orelse: orElse(children),
      finalbody,
    }
  },
  except_clause: exceptAny,
  function_definition: (children): ast.FunctionDef =>
    withTypes(children, {
      kind: 'FunctionDef',
      line: children.line,
      name: nameOf(children),
      args: find(children, 'parameters') as ast.Arguments | undefined as ast.Arguments,
      returns: after(children, '->') as ast.Expression | undefined,
      body: block(children),
      decorators: [],
      isAsync: nameAt(children, 0) === 'async',
      isGenerator: children.bodyYields,
    }),
  class_definition: (children): ast.ClassDef => {
    const list = find(children, 'argument_list') as CallArguments | undefined
    return withTypes(children, {
      kind: 'ClassDef',
      line: children.line,
      name: nameOf(children),
      bases: list?.args ?? [],
      keywords: list?.keywords ?? [],
      body: block(children),
      decorators: [],
    })
  },
  decorated_definition: (children): ast.FunctionDef | ast.ClassDef => {
    const all = values(children) as (ast.Expression | ast.FunctionDef | ast.ClassDef)[]
    const definition = all.pop() as ast.FunctionDef | ast.ClassDef
    definition.decorators = all as ast.Expression[]
    return definition
  },
  decorator: at(1),
  match_statement: node<ast.Match>('Match', {
    subject: (children) => tupleOrOne(children, 1, indexOf(children, ':')),
    cases: (children) => (find(children, 'block') ?? []) as ast.MatchCase[],
  }),
}
