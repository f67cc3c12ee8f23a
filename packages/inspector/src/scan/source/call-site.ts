import type { Call, Expression } from '../../python/ast.ts'
import type { Scope } from './scope.ts'

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
