import { isClass, isUnknown } from '../../interpret/values/guards.ts'
import type { Interpreter } from '../../interpret/interpreter.ts'
import type { Value } from '../../interpret/values/value.ts'

/** The method that gives the schema, bound to the class; undefined if the pack defines none. */
export const findSchemaMethod = (interpreter: Interpreter, cls: Value): Value | undefined => {
  if (!isClass(cls)) return undefined
  for (const name of ['define_schema', 'GET_SCHEMA']) {
    const own = interpreter.findInClass(cls, name)
    if (own !== undefined && !isUnknown(own)) return interpreter.findAttribute(cls, name)
  }
  return undefined
}
