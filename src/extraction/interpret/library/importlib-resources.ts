import { isModule } from '../values/guards.ts'
import { textOf } from '../values/payload.ts'
import { importModule } from '../modules/module-loader.ts'
import { nativeModule } from '../values/native.ts'
import type { Runtime } from '../runtime.ts'
import { dirname } from '../text/path/posix.ts'
import type { ModuleValue, NativeCall, Value } from '../values/value.ts'
import { functionsOf } from './support/names.ts'
import { makePathlibPath } from './support/path-value.ts'

/** `importlib.resources`: files beside a module of the pack. */
export const makeImportlibResources = (): ModuleValue =>
  nativeModule('importlib.resources', functionsOf('importlib.resources', FUNCTIONS))

/** Folder of a package, given as a module or by name. */
const folderOf = (rt: Runtime, anchor: Value | undefined): string | undefined => {
  const name = textOf(anchor)
  const module = name === undefined ? anchor : importModule(rt, name)
  if (!isModule(module)) return undefined
  return module.file === undefined ? undefined : dirname(module.file)
}

const FUNCTIONS: Record<string, NativeCall> = {
  files: (rt, [anchor]) => {
    const folder = folderOf(rt, anchor ?? rt.state.scope.module)
    return folder === undefined ? undefined : makePathlibPath(rt, folder)
  },
}
