import { decorate, evaluateDecorators } from './decorator.ts'
import { makeFunction } from './make-function.ts'
import { bindName } from './name.ts'
import type { Runtime } from './runtime.ts'
import type { Scope } from './scope.ts'
import type { FunctionDef } from '../python/ast.ts'

export function executeFunction(rt: Runtime, node: FunctionDef, scope: Scope): undefined {
  const decorators = evaluateDecorators(rt, node.decorators, scope)
  const fn = makeFunction(rt, node, scope, node.name)
  bindName(scope, node.name, decorate(rt, decorators, fn))
}
