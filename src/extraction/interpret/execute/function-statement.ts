import { decorate, evaluateDecorators } from '../evaluate/decorator.ts'
import { makeFunction } from '../evaluate/make-function.ts'
import { bindName } from '../evaluate/name.ts'
import type { Runtime } from '../runtime.ts'
import type { Scope } from '../values/scope.ts'
import type { FunctionDef } from '../../python/ast.ts'

export function executeFunction(rt: Runtime, node: FunctionDef, scope: Scope): undefined {
  const decorators = evaluateDecorators(rt, node.decorators, scope)
  const fn = makeFunction(rt, node, scope, node.name)
  bindName(scope, node.name, decorate(rt, decorators, fn))
}
