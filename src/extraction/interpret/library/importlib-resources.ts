import { isModule } from '../values/guards.ts'
import { textOf } from '../values/payload.ts'
import { pathOf } from '../operate/arguments.ts'
import { importModule } from '../modules/module-loader.ts'
import { nativeModule } from '../values/native.ts'
import type { Runtime } from '../runtime.ts'
import { dirname, joinPath } from '../text/path/posix.ts'
import type { ModuleValue, NativeCall, Value } from '../values/value.ts'
import { functionsOf } from './support/names.ts'
import { readBytes, readText } from './support/pack-file.ts'
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

const resourceOf = (rt: Runtime, [anchor, name]: Value[]): string | undefined => {
  const [folder, file] = [folderOf(rt, anchor), pathOf(rt, name)]
  return folder === undefined || file === undefined ? undefined : joinPath(folder, file)
}

const FUNCTIONS: Record<string, NativeCall> = {
  files: (rt, [anchor]) => {
    const folder = folderOf(rt, anchor ?? rt.state.scope.module)
    return folder === undefined ? undefined : makePathlibPath(rt, folder)
  },
  read_text: (rt, args) => {
    const path = resourceOf(rt, args)
    return path === undefined ? undefined : readText(rt, path)
  },
  read_binary: (rt, args) => {
    const path = resourceOf(rt, args)
    const data = path === undefined ? undefined : readBytes(rt, path)
    return data === undefined ? undefined : { kind: 'bytes', data }
  },
}
