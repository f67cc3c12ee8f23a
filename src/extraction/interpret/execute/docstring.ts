import type { Statement } from '../../python/ast.ts'

/** The text of a body's first statement, if that is a plain string. */
export function docstringOf(body: readonly Statement[]): string | undefined {
  const [first] = body
  if (first?.kind !== 'Expr' || first.value.kind !== 'Constant') return undefined
  return typeof first.value.value === 'string' ? first.value.value : undefined
}
