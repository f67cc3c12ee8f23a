import { isObject } from '../../interpret/values/guards.ts'
import type { Interpreter } from '../../interpret/interpreter.ts'
import type { ClassValue, Value } from '../../interpret/values/value.ts'

/** The method of the host's base class that runs the node; it depends on whether `execute` is a coroutine. */
export const readFunctionName = (interpreter: Interpreter, cls: ClassValue): string => {
  const isAsync = isCoroutine(interpreter.findInClass(cls, 'execute'))
  if (isAsync === undefined) return ''
  return isAsync ? 'EXECUTE_NORMALIZED_ASYNC' : 'EXECUTE_NORMALIZED'
}

const isCoroutine = (value: Value | undefined): boolean | undefined => {
  if (!isObject(value)) return undefined
  if (value.kind === 'classmethod' || value.kind === 'staticmethod')
    return isCoroutine(value.function)
  if (value.kind === 'function')
    return value.node.kind === 'FunctionDef' && value.node.isAsync && !value.node.isGenerator
  return undefined
}
