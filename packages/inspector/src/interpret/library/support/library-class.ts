import { isClass, isModule } from '../../values/read-value.ts'
import { importModule } from '../../modules/module-loader.ts'
import { makeInstance, makeUnknown } from '../../values/make-value.ts'
import type { ClassValue, ModuleValue, Runtime, Value } from '../../types.ts'

/** A class that another module of the library defines; undefined if a pack has taken its place away. */
export const findLibraryClass = (
  rt: Runtime,
  module: string,
  name: string,
): ClassValue | undefined => {
  const found = findLibraryModule(rt, module)?.namespace.get(name)
  return isClass(found) ? found : undefined
}

/** A module of the library, made if it was not imported yet. */
const findLibraryModule = (rt: Runtime, name: string): ModuleValue | undefined => {
  const found = importModule(rt, name)
  return isModule(found) ? found : undefined
}

/**
 * A submodule that is there with its package. Made here and not imported, as importing it would make the package it is
 * part of once more.
 */
export const loadSubmodule = (
  rt: Runtime,
  name: string,
  make: (rt: Runtime) => ModuleValue,
): Value => {
  const known = rt.modules.get(name)
  if (known !== undefined) return known
  const module = make(rt)
  rt.modules.set(name, module)
  return module
}

/** An instance of such a class; an unknown of its name if there is none. */
export const makeLibraryInstance = (
  rt: Runtime,
  [module, name]: readonly [string, string],
  native: unknown,
  attributes: Record<string, Value>,
): Value => {
  const cls = findLibraryClass(rt, module, name)
  if (cls === undefined) return makeUnknown(`${module}.${name}()`, 'standard-library')
  return makeInstance(cls, undefined, native, attributes)
}
