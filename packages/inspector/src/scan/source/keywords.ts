import type { Expression } from '../../python/ast.ts'
import type { NamedCall } from './source-file.ts'
import { findBindings } from './find-bindings.ts'
import type { Scope } from './scope.ts'

export const findKeyword = ({ call }: NamedCall, name: string): Expression | undefined =>
  call.keywords.find((keyword) => keyword.name === name)?.value

/** An argument that may be given by its place or its name. */
export const findArgument = (
  site: NamedCall,
  at: number,
  keyword: string,
): Expression | undefined => site.call.args[at] ?? findKeyword(site, keyword)

/** True when a keyword is given as True, or as a name that is. */
export const isTrue = (site: NamedCall, name: string): boolean => {
  const value = findKeyword(site, name)
  return value !== undefined && isTrueValue(value, site.scope)
}

export const isTrueValue = (node: Expression, scope: Scope): boolean => {
  if (node.kind === 'Constant') return node.value === true || node.value === 1n
  if (node.kind !== 'Name') return false
  const [binding, ...others] = findBindings(scope, node.id) ?? []
  return (
    others.length === 0 &&
    binding?.kind === 'value' &&
    binding.value.kind === 'Constant' &&
    binding.value.value === true
  )
}
