import type { Scope } from '../values/scope.ts'
import type { Global, Nonlocal } from '../../python/ast.ts'
import { moduleScope } from '../evaluate/name.ts'

/** `global` and `nonlocal`: from here on the names belong to another scope. */
export function declareNames(node: Global | Nonlocal, scope: Scope): undefined {
  if (scope.kind === 'module') return
  scope.declared ??= new Map()
  for (const name of node.names) {
    const target =
      node.kind === 'Global' ? moduleScope(scope.module) : findFunctionScope(scope, name)
    if (target) scope.declared.set(name, target)
  }
}

/** The nearest function around that has the name; else the nearest function, where it will be bound. */
function findFunctionScope(scope: Scope, name: string): Scope | undefined {
  let nearest: Scope | undefined
  for (let at = scope.parent; at; at = at.parent) {
    if (at.kind !== 'function') continue
    nearest ??= at
    if (at.names.has(name)) return at
    const declared = at.declared?.get(name)
    if (declared) return declared
  }
  return nearest
}
