import type { Dict, Module } from '../../python/ast.ts'
import type { CallSite, NamedCall } from './call-site.ts'
import { collectSites } from './collect.ts'
import { commandsOf } from './commands.ts'
import { namesOf } from './values.ts'
import type { Effort, Scope } from './scope.ts'

/** A string or bytes literal that is neither a docstring nor a statement of its own. */
export interface TextSite {
  text: string
  line: number
}

/** One Python file, read once for all rules. */
export interface SourceFile {
  path: string
  module: Module
  calls: readonly CallSite[]
  texts: readonly TextSite[]
  /** Strings and bytes above 1,000 characters, docstrings included. */
  longTexts: readonly TextSite[]
  /** Dict displays: their keys can be keyword arguments later. */
  dicts: readonly { node: Dict; scope: Scope }[]
  /** Absolute and relative modules that the file imports, as `import` statements have them. */
  imports: readonly ImportedModule[]
  /** Below one when questions about this file's values were too many, so that some got no answer. */
  effort: Effort
}

export interface ImportedModule {
  level: number
  /** Dotted name; '' for `from . import x`. */
  module: string
  names: readonly string[]
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
