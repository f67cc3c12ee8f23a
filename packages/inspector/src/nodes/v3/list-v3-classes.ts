import { isClass, isObject, isSequence, isUnknown } from '../../interpret/values/read-value.ts'
import type { Interpreter } from '../../interpret/interpreter.ts'
import { KNOWN_MODULES } from '../../interpret/modules/known-modules.ts'
import type { ModuleValue, Reason, Value } from '../../interpret/types.ts'

interface V3Classes {
  classes: Value[]
  /** There are no more. */
  complete: boolean
  /** Those that the pack lists only under a condition which cannot be known. */
  conditional: ReadonlySet<Value>
  /** The host takes none: it gets no extension, or no list of it. */
  isWrong?: true
  /** The extension raises when the host loads it. */
  failure?: Reason
}

/**
 * The node classes that the pack's `comfy_entrypoint` gives; undefined for a pack without one. `complete` is false if
 * there may be more. What has no schema is left out: without it a class has no name, and packs that list all classes of
 * a module list those of libraries, too.
 */
export const listV3Classes = (
  interpreter: Interpreter,
  entry: ModuleValue,
): V3Classes | undefined => {
  const entrypoint = interpreter.findAttribute(entry, 'comfy_entrypoint')
  if (entrypoint === undefined || entrypoint === null) return undefined
  const extension = interpreter.call(entrypoint, [])
  const onLoad = interpreter.findAttribute(extension, 'on_load')
  const { failure } = isObject(onLoad) && !isUnknown(onLoad) ? interpreter.tryCall(onLoad, []) : {}
  if (failure) return { classes: [], complete: true, conditional: new Set(), failure }
  const getNodes = interpreter.findAttribute(extension, 'get_node_list')
  const list = getNodes === undefined ? undefined : interpreter.call(getNodes, [])
  if (list === undefined || !(isSequence(list) || isUnknown(list)))
    return { classes: [], complete: !isUnknown(extension), conditional: new Set(), isWrong: true }
  const { items, rest } = interpreter.readItems(list)
  const isNode = (item: Value): boolean => findSchemaMethod(interpreter, item) !== undefined
  const others = items.filter((item) => !isNode(item))
  return {
    classes: [...new Set(items.filter(isNode))],
    complete: !rest && !others.some(mayBeNode),
    conditional: new Set(isSequence(list) ? list.maybe : []),
  }
}

/** Something of which only its name is known, or a class with such a base, unless that is of a library. */
const mayBeNode = (item: Value): boolean => {
  if (isClass(item)) return item.mro.slice(1).some(mayBeNode)
  if (!isUnknown(item) || (item.origin !== 'pack' && item.origin !== 'third-party')) return false
  const [first = ''] = item.name.split(/[.([]/)
  return !KNOWN_MODULES.thirdParty.has(first)
}

/** The method that gives the schema, bound to the class; undefined if the pack defines none. */
export const findSchemaMethod = (interpreter: Interpreter, cls: Value): Value | undefined => {
  if (!isClass(cls)) return undefined
  for (const name of ['define_schema', 'GET_SCHEMA']) {
    const own = interpreter.findInClass(cls, name)
    if (own !== undefined && !isUnknown(own)) return interpreter.findAttribute(cls, name)
  }
  return undefined
}
