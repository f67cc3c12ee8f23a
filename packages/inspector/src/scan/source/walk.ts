import type { Call, Dict, Expression, Statement } from '../../python/ast.ts'
import { makeScope, type Effort, type FileContext, type Scope } from './scope.ts'

/** A string or bytes literal that is neither a docstring nor a statement of its own. */
export interface TextSite {
  text: string
  line: number
}

/** A module, absolute or relative, as an `import` statement has it. */
export interface ImportedModule {
  level: number
  /** Dotted name; '' for `from . import x`. */
  module: string
  names: readonly string[]
}

/** Places that the walk over a file gathers. */
export interface Sites {
  calls: { call: Call; scope: Scope }[]
  texts: TextSite[]
  /** Strings and bytes above 1,000 characters, docstrings included. */
  longTexts: TextSite[]
  /** Dict displays: their keys can be keyword arguments later. */
  dicts: { node: Dict; scope: Scope }[]
  imports: ImportedModule[]
  /** Below one when questions about this file's values were too many, so that some found nothing. */
  effort: Effort
}

/** State of a walk with a stack of its own for what is to do: sources may nest deeper than JavaScript can call. */
export interface Walk extends Sites {
  todo: ({ statement: Statement; scope: Scope } | { expression: Expression; scope: Scope })[]
  /** Number of the next scope. */
  scopes: number
  file: FileContext
}

export const newScope = (
  walk: Walk,
  kind: Scope['kind'],
  parent: Scope | undefined,
  self?: string,
): Scope => makeScope({ id: walk.scopes++, kind, file: walk.file }, parent, self)

export const push = (walk: Walk, statements: readonly Statement[], scope: Scope): void => {
  for (let at = statements.length - 1; at >= 0; at -= 1)
    walk.todo.push({ statement: statements[at] as Statement, scope })
}

export const pushExpressions = (
  walk: Walk,
  expressions: readonly (Expression | undefined)[],
  scope: Scope,
): void => {
  for (let at = expressions.length - 1; at >= 0; at -= 1) {
    const expression = expressions[at]
    // Nothing is noted of a name alone, and every other expression is one.
    if (expression && expression.kind !== 'Name') walk.todo.push({ expression, scope })
  }
}

/** The function whose body this is, through classes and comprehensions in it. */
export const functionOf = (scope: Scope): Scope | undefined => {
  let at: Scope | undefined = scope
  while (at && at.kind !== 'function') at = at.parent
  return at
}
