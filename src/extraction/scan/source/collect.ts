import type { Module } from '../../python/ast.ts'
import { makeScope } from './scope.ts'
import { walkExpression } from './walk-expression.ts'
import { walkStatement } from './walk-statement.ts'
import { push } from './walk.ts'
import type { Sites, Walk } from './walk.ts'

/** Walks a module once: binds every name, gathers what rules look at, in source order. */
export const collectSites = (module: Module): Sites => {
  const top = makeScope(0, 'module', undefined)
  const walk: Walk = {
    todo: [],
    scopes: 1,
    calls: [],
    texts: [],
    longTexts: [],
    dicts: [],
    imports: [],
    effort: top.effort,
  }
  push(walk, module.body, top)
  for (let next = walk.todo.pop(); next; next = walk.todo.pop()) {
    if ('statement' in next) walkStatement(walk, next.statement, next.scope)
    else walkExpression(walk, next.expression, next.scope)
  }
  return walk
}
