import type { Runtime } from '../runtime.ts'
import type { ModuleValue } from '../values/value.ts'

/**
 * The modules of the standard library that are more than unknowns. A module is made at its first import (`makeModule` is
 * called once for each runtime and name) and then stands in `rt.modules`. A module of the standard library that
 * is not found here is an unknown of that name.
 */
export interface LibraryRegistry {
  /** By dotted name: `os`, `os.path`, `importlib.util`. */
  find(name: string): ((rt: Runtime) => ModuleValue) | undefined
}
