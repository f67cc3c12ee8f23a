import type { Expression } from '../../python/ast.ts'
import { originsOf } from '../source/origins.ts'
import type { CallSite } from '../source/call-site.ts'
import { eachCall } from './each-call.ts'

/**
 * code-object: a code object made of its parts, or a function made of one that was unmarshalled. A copy that keeps the
 * instructions of another (`old.co_code`) is not: libraries that pickle functions or mend tracebacks make them.
 */
export const findCodeObjects = eachCall((site) =>
  isCodeObject(site) ? { rule: 'code-object' } : undefined,
)

const isCodeObject = ({ call, scope, names }: CallSite): boolean => {
  if (names.includes('types.CodeType')) return !call.args.some(isInstructions)
  const [code] = call.args
  return (
    code !== undefined &&
    names.includes('types.FunctionType') &&
    originsOf(code, scope).has('marshal')
  )
}

const isInstructions = (node: Expression): boolean =>
  node.kind === 'Attribute' && node.attr === 'co_code'
