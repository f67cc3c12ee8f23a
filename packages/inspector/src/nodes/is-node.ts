import { isClass, isObject } from '../interpret/values/guards.ts'
import type { Interpreter } from '../interpret/interpreter.ts'
import { KNOWN_MODULES } from '../interpret/modules/known-modules.ts'
import type { BaseValue, ClassValue, UnknownValue, Value } from '../interpret/values/value.ts'

/** Attributes that tell a node class apart from others. */
const NODE_ATTRIBUTES = ['INPUT_TYPES', 'RETURN_TYPES', 'define_schema', 'GET_SCHEMA']

/** True for a node in the mapping; false for functions, modules and constants, which packs put there by mistake. */
export const isNode = (
  interpreter: Interpreter,
  value: Value,
): value is ClassValue | UnknownValue => {
  if (!isObject(value)) return false
  if (value.kind === 'unknown') return isUnknownNode(value)
  return isClass(value) && value.home === 'pack' && isNodeClass(interpreter, value)
}

const isNodeClass = (interpreter: Interpreter, cls: ClassValue): boolean =>
  NODE_ATTRIBUTES.some((name) => interpreter.findInClass(cls, name) !== undefined) ||
  cls.mro.some(isForeign)

/** A base outside of pack and standard library may bring all of it. */
const isForeign = (base: BaseValue): boolean =>
  base.kind === 'unknown' && base.origin !== 'standard-library' && base.origin !== 'machine'

/** A class of the host, or one of whose making nothing is known; nothing of a library that packs use for other things. */
const isUnknownNode = ({ name, origin }: UnknownValue): boolean => {
  if (origin === 'standard-library' || origin === 'machine') return false
  const [first = ''] = name.split(/[.([]/)
  if (origin === 'host') return HOST_NODES.has(first)
  return !KNOWN_MODULES.thirdParty.has(first)
}

const HOST_NODES = new Set(['nodes', 'comfy_extras', 'comfy_api_nodes'])
