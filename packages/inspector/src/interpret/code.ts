import type {
  evaluate,
  evaluateAnnotation,
  evaluateAwait,
  evaluateSafely,
} from './evaluate/expression.ts'
import type { assignTarget } from './execute/assignment.ts'
import type { execute, executeStatement } from './execute/statement.ts'
import type { findModule, importModule } from './modules/module-loader.ts'
import type { callMethod, callSpecial, callWith } from './operate/call.ts'

/**
 * Closes the circle: an operation on values runs code of the pack (a method, a default, an import), and code consists
 * of operations. The runtime is given these when it is made, so that imports point one way: `operate`, `evaluate`, `execute`,
 * `modules`.
 */
export interface Code {
  callWith: typeof callWith
  callMethod: typeof callMethod
  callSpecial: typeof callSpecial
  evaluate: typeof evaluate
  evaluateSafely: typeof evaluateSafely
  evaluateAwait: typeof evaluateAwait
  evaluateAnnotation: typeof evaluateAnnotation
  assignTarget: typeof assignTarget
  execute: typeof execute
  executeStatement: typeof executeStatement
  findModule: typeof findModule
  importModule: typeof importModule
}
