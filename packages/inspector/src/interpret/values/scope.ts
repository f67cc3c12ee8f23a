import type { ClassValue, FunctionValue, ModuleValue, Value } from './value.ts'

/**
 * Names while code runs. A class body sees its own names, then those of the functions around it; functions
 * defined in it skip it (`parent` of their scope is the scope around the class).
 */
export interface Scope {
  kind: 'module' | 'class' | 'function' | 'comprehension'
  names: Map<string, Value>
  parent: Scope | undefined
  module: ModuleValue
  /** Names declared `global` or `nonlocal` here, and the scope they stand for. */
  declared: Map<string, Scope> | undefined
  /** Set in the scope of a running function. */
  frame: Frame | undefined
  /** The class whose body this is, or whose method this is. */
  owner: { cls: ClassValue | undefined } | undefined
}

/** Values that a running function gathers. */
export interface Frame {
  /** The scope that called. */
  caller: Scope
  function: FunctionValue
  /** First positional argument, for `super()`. */
  self: Value | undefined
  /** Values returned under tests that could not be decided. */
  maybeReturned: Value[]
  /** Values yielded so far, if it is a generator. */
  yielded: Value[]
  /** It may have yielded more, or less. */
  maybeYielded: boolean
}
