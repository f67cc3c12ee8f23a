import {
  isClass,
  isFunction,
  isInstanceValue,
  isIterator,
  isList,
  isMethod,
  isUnknown,
  nameOf,
  payloadOf,
} from '../../interpret/values/read-value.ts'
import { makeUnknown } from '../../interpret/values/make-value.ts'
import { isCallable } from '../../interpret/operate/call.ts'
import type { Interpreter } from '../../interpret/interpreter.ts'
import { isCoroutine } from './reading.ts'
import { KNOWN_MODULES } from '../../interpret/modules/known-modules.ts'
import type { ModuleValue, Reason, Value } from '../../interpret/types.ts'

interface V3Classes {
  classes: Value[]
  /** There are no more. */
  complete: boolean
  /** Those that the pack lists only under a condition which cannot be known. */
  conditional: ReadonlySet<Value>
  /** Why the host takes none. */
  rejected?: string
  /** The exception that ends the loading of the pack. */
  failure?: Reason
  /** Names of classes that have no schema, at the first of which the host ends. */
  withoutSchema?: string[]
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
  try {
    return readList(interpreter, runEntrypoint(interpreter, entrypoint))
  } catch (error) {
    if (!(error instanceof LoadingEnded)) throw error
    return { classes: [], complete: true, conditional: new Set(), ...error.end }
  }
}

/** The host goes no further with the pack. */
class LoadingEnded extends Error {
  readonly end: Pick<V3Classes, 'rejected' | 'failure'>

  constructor(end: LoadingEnded['end']) {
    super(end.rejected ?? end.failure?.detail)
    this.end = end
  }
}

const reject = (rejected: string): never => {
  throw new LoadingEnded({ rejected })
}

/** The list of the extension, got as the host gets it. */
const runEntrypoint = (interpreter: Interpreter, entrypoint: Value): Value => {
  const runMethod = (name: string): Value => {
    const method = interpreter.findAttribute(extension, name) ?? makeUnknown(name)
    if (isUnknown(method)) return method
    const made = run(interpreter, method, interpreter.tryCall(method, [], { isAwaited: false }))
    const isAwaitable = isUnknown(made) || isIterator(made) || isInstanceValue(made)
    if (!isAwaitable) reject(`${name} is not async`)
    return run(interpreter, method, interpreter.tryAwait(made))
  }
  if (isCallable(entrypoint) === false) reject('comfy_entrypoint is no function')
  const isAwaited = isCoroutine(entrypoint) !== false
  const extension = run(interpreter, entrypoint, interpreter.tryCall(entrypoint, [], { isAwaited }))
  if (!isAwaited && isIterator(extension))
    reject('comfy_entrypoint returns a coroutine, but is not async')
  if (!mayBeExtension(extension)) reject('comfy_entrypoint returns no ComfyExtension')
  runMethod('on_load')
  const list = runMethod('get_node_list')
  return isUnknown(list) || isList(payloadOf(list)) ? list : reject('get_node_list returns no list')
}

/** The value of a run, unless that certainly raises. */
const run = (
  { runtime }: Interpreter,
  callee: Value,
  { value, failure, isSure }: ReturnType<Interpreter['tryCall']>,
): Value => {
  if (!failure || !isSure) return value
  if (failure.code !== 'import_raised') throw new LoadingEnded({ failure })
  const fn = isMethod(callee) ? callee.function : callee
  const file = isFunction(fn) ? fn.module.file?.slice(runtime.files.root.length + 1) : undefined
  const place = isFunction(fn) ? `${file}, line ${fn.node.line}: ` : ''
  const detail = `${place}${nameOf(fn)} raises ${failure.detail}`
  throw new LoadingEnded({ failure: { ...failure, detail } })
}

const mayBeExtension = (value: Value): boolean =>
  isUnknown(value) || (isInstanceValue(value) && value.cls.mro.some(isUnknown))

const readList = (interpreter: Interpreter, list: Value): V3Classes => {
  const content = payloadOf(list)
  const { items, rest } = interpreter.readItems(list)
  const isNode = (item: Value): boolean => findSchemaMethod(interpreter, item) !== undefined
  const others = items.filter((item) => !isNode(item))
  return {
    classes: [...new Set(items.filter(isNode))],
    complete: !rest && !others.some(mayBeNode),
    conditional: new Set(isList(content) ? content.maybe : []),
    withoutSchema: others.filter(lacksSchema).map(nameOf),
  }
}

/** A class of the pack whose bases are known, but for those of the host, which leave the schema to it. */
const lacksSchema = (item: Value): boolean =>
  isClass(item) &&
  item.home === 'pack' &&
  item.mro.every((base) => isClass(base) || base.origin === 'host')

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
