import type { Call, Expression, Module } from '../../python/ast.ts'
import { commandsOf } from './commands.ts'
import { namesOf } from './values.ts'
import { makeScope, type PackModules, type Scope } from './scope.ts'
import { walkExpression } from './walk-expression.ts'
import { walkStatement } from './walk-statement.ts'
import { push, type Sites, type Walk } from './walk.ts'

/** One Python file, read once for all rules. */
export interface SourceFile extends Omit<Sites, 'calls'> {
  path: string
  module: Module
  calls: readonly CallSite[]
}

/** A file whose names are bound, and whose values nobody has asked for yet. */
export interface WalkedFile extends Sites {
  path: string
  module: Module
  top: Scope
}

export const readSource = ({ calls, ...rest }: WalkedFile): SourceFile => ({
  ...rest,
  calls: calls.map(readCall),
})

export const readCall = ({ call, scope }: Pick<NamedCall, 'call' | 'scope'>): CallSite => {
  const site: CallSite = { call, scope, names: namesOf(call.func, scope), commands: NONE }
  const commands = commandsOf(site)
  // One empty list for all: a file may have half a million calls.
  if (commands.length > 0) site.commands = commands
  return site
}

const NONE: readonly never[] = []

/** Walks a module once: binds every name, gathers what rules look at, in source order. */
export const walkFile = (path: string, module: Module, context: WalkContext): WalkedFile => {
  const file = { path, modules: context.modules, lambdas: new Map(), places: new Set<string>() }
  const top = makeScope({ id: context.scopes++, kind: 'module', file }, undefined)
  const walk: Walk = {
    todo: [],
    scopes: context.scopes,
    file,
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
  context.scopes = walk.scopes
  return { ...walk, path, module, top }
}

/** Context that the files of a pack share. */
export interface WalkContext {
  modules: PackModules
  /** Number of the next scope. */
  scopes: number
}

/** A call, with the dotted names that its function may stand for (`subprocess.run`). */
export interface NamedCall {
  call: Call
  scope: Scope
  names: readonly string[]
}

export interface CallSite extends NamedCall {
  /** Commands that it may start as a process. */
  commands: readonly Command[]
}

/** One way a process is started. */
export interface Command {
  words: readonly Word[]
  /** True when a shell reads it. */
  shell: boolean
  /** The words with a blank between them, for patterns; unknown parts are holes. */
  line: string
}

/** A word of a command: what it may be, and the expression it came from if it is one argument. */
export interface Word {
  texts: readonly string[]
  node: Expression | undefined
}
