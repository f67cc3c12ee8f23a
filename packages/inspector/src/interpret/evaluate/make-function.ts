import { evaluate } from '../run-code.ts'
import { closureScope } from './name.ts'
import type { FunctionValue, Runtime, Scope, Value } from '../types.ts'
import type { FunctionDef, Lambda, Statement } from '../../python/ast.ts'

/** The function of a `def` or `lambda`: its defaults are evaluated now. */
export function makeFunction(
  rt: Runtime,
  node: FunctionDef | Lambda,
  scope: Scope,
  name: string,
): FunctionValue {
  const defaults = new Map<string, Value>()
  const { positionalOnly, positional, keywordOnly } = node.args
  for (const list of [positionalOnly, positional, keywordOnly])
    for (const parameter of list)
      if (parameter.default) defaults.set(parameter.name, evaluate(rt, parameter.default, scope))
  return {
    kind: 'function',
    name,
    qualname: qualify(scope, name),
    node,
    module: scope.module,
    scope: closureScope(scope),
    defaults,
    attributes: new Map(),
    owner: scope.owner,
    active: 0,
    calls: 0,
    unsure: 0,
  }
}

/** `Outer.inner`, `outer.<locals>.inner`. */
export function qualify(scope: Scope, name: string): string {
  if (scope.kind === 'class') {
    const around = scope.names.get('__qualname__')
    return typeof around === 'string' ? `${around}.${name}` : name
  }
  const fn = scope.frame?.function
  return fn ? `${fn.qualname}.<locals>.${name}` : name
}

/** The text of a body's first statement, if that is a plain string. */
export function docstringOf(body: readonly Statement[]): string | undefined {
  const [first] = body
  if (first?.kind !== 'Expr' || first.value.kind !== 'Constant') return undefined
  return typeof first.value.value === 'string' ? first.value.value : undefined
}
