import type { Module } from '../../python/ast.ts'
import type { CallSite, NamedCall } from './call-site.ts'
import { commandsOf } from './commands.ts'
import { namesOf } from './values.ts'
import { makeScope } from './scope.ts'
import { walkExpression } from './walk-expression.ts'
import { walkStatement } from './walk-statement.ts'
import { push } from './walk.ts'
import type { Sites, Walk } from './walk.ts'

/** One Python file, read once for all rules. */
export interface SourceFile extends Omit<Sites, 'calls'> {
  path: string
  module: Module
  calls: readonly CallSite[]
}

export const readSource = (path: string, module: Module): SourceFile => {
  const { calls, ...rest } = collectSites(module)
  return { path, module, ...rest, calls: calls.map(readCall) }
}

const readCall = ({ call, scope }: Pick<NamedCall, 'call' | 'scope'>): CallSite => {
  const site: CallSite = { call, scope, names: namesOf(call.func, scope), commands: NONE }
  const commands = commandsOf(site)
  // One empty list for all: a file may have half a million calls.
  if (commands.length > 0) site.commands = commands
  return site
}

const NONE: readonly never[] = []

/** Walks a module once: binds every name, gathers what rules look at, in source order. */
const collectSites = (module: Module): Sites => {
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
