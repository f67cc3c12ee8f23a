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
  if (isCallable(entrypoint) === false)
    return endWith({ rejected: 'comfy_entrypoint is no function' })
  const made = runEntrypoint(interpreter, entrypoint)
  if ('end' in made) return endWith(made.end)
  const extension = made.value
  if (!mayBeExtension(extension))
    return endWith({ rejected: 'comfy_entrypoint returns no ComfyExtension' })
  const loaded = runMethod(interpreter, extension, 'on_load')
  if (loaded && 'end' in loaded) return endWith(loaded.end)
  const listed = runMethod(interpreter, extension, 'get_node_list')
  if (!listed) return endWith({ rejected: 'The ComfyExtension has no get_node_list' })
  return 'end' in listed ? endWith(listed.end) : readList(interpreter, listed.value)
}

/** A value that the host gets of a function of the pack, or the end of its loading. */
type Ran = { value: Value } | { end: Pick<V3Classes, 'rejected' | 'failure'> }

const endWith = (end: Pick<V3Classes, 'rejected' | 'failure'>): V3Classes => ({
  classes: [],
  complete: true,
  conditional: new Set(),
  ...end,
})

/** The host awaits the result where the function itself is async. */
const runEntrypoint = (interpreter: Interpreter, entrypoint: Value): Ran => {
  const isAwaited = isCoroutine(entrypoint) !== false
  const made = run(interpreter, entrypoint, { isAwaited })
  const isLost = 'value' in made && !isAwaited && isIterator(made.value)
  return isLost
    ? { end: { rejected: 'comfy_entrypoint returns a coroutine, but is not async' } }
    : made
}

/** Awaits a method of the extension, as the host does; undefined where only the host may have it. */
const runMethod = (interpreter: Interpreter, extension: Value, name: string): Ran | undefined => {
  const method = interpreter.findAttribute(extension, name)
  if (method === undefined || (isUnknown(method) && name === 'on_load')) return undefined
  const made = run(interpreter, method, { isAwaited: false })
  if ('end' in made) return made
  const { value } = made
  const isAwaitable = isUnknown(value) || isIterator(value) || isInstanceValue(value)
  if (!isAwaitable) return { end: { rejected: `${name} is not async` } }
  return resultOf(interpreter, method, interpreter.tryAwait(value))
}

const run = (interpreter: Interpreter, callee: Value, options: { isAwaited: boolean }): Ran =>
  resultOf(interpreter, callee, interpreter.tryCall(callee, [], options))

const resultOf = (
  { runtime }: Interpreter,
  callee: Value,
  { value, failure, isSure }: ReturnType<Interpreter['tryCall']>,
): Ran => {
  if (!failure || !isSure) return { value }
  if (failure.code !== 'import_raised') return { end: { failure } }
  const fn = isMethod(callee) ? callee.function : callee
  const file = isFunction(fn) ? fn.module.file?.slice(runtime.files.root.length + 1) : undefined
  const place = isFunction(fn) ? `${file}, line ${fn.node.line}: ` : ''
  return {
    end: { failure: { ...failure, detail: `${place}${nameOf(fn)} raises ${failure.detail}` } },
  }
}

const mayBeExtension = (value: Value): boolean =>
  isUnknown(value) || (isInstanceValue(value) && value.cls.mro.some(isUnknown))

const readList = (interpreter: Interpreter, list: Value): V3Classes => {
  const content = payloadOf(list)
  if (!isUnknown(list) && !isList(content))
    return endWith({ rejected: 'get_node_list returns no list' })
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
