import { makeImportlibUtil } from './importlib-util.ts'
import { makeImportlibMachinery } from './module-spec.ts'
import { loadSubmodule } from './support/library-class.ts'
import { functionsOf, machineFunctions, quietFunctions } from './support/names.ts'
import { makePathlibPath } from './support/path-value.ts'
import { importModule, resolveName } from '../modules/module-loader.ts'
import { argumentOf } from '../operate/arguments.ts'
import { raiseIfHandled } from '../operate/raise.ts'
import type { Runtime } from '../runtime.ts'
import { dirname } from '../text/path/posix.ts'
import { isModule } from '../values/guards.ts'
import { nativeModule } from '../values/native.ts'
import { textOf } from '../values/payload.ts'
import type { ModuleValue, NativeCall, Value } from '../values/value.ts'
import { ifKnown } from '../values/make-value.ts'

/** `importlib`, with its submodules as attributes. */
export const makeImportlib = (rt: Runtime): ModuleValue => {
  const submodules = Object.entries(SUBMODULES).map(
    ([name, make]) => [name, loadSubmodule(rt, `importlib.${name}`, make)] as const,
  )
  return nativeModule('importlib', [
    ...submodules,
    ...functionsOf('importlib', { import_module: importNamed, reload, __import__: importNamed }),
    ...quietFunctions('importlib', 'invalidate_caches'),
  ])
}

/** `importlib.metadata`: what is installed is the machine's business. */
export const makeImportlibMetadata = (): ModuleValue =>
  nativeModule(
    'importlib.metadata',
    machineFunctions('importlib.metadata', 'version distribution distributions metadata requires'),
  )

const importNamed: NativeCall = (rt, args, kwargs) => {
  const name = textOf(argumentOf(args, kwargs, 0, 'name'))
  const absolute = name === undefined ? undefined : absoluteName(rt, name, args, kwargs)
  return absolute === undefined ? undefined : importModule(rt, absolute)
}

/** `.a.b` is read from the package given. */
const absoluteName = (
  rt: Runtime,
  name: string,
  args: Value[],
  kwargs: ReadonlyMap<string, Value>,
): string | undefined => {
  if (!name.startsWith('.')) return name
  const level = name.length - name.replace(/^\.+/, '').length
  const packageName = textOf(argumentOf(args, kwargs, 1, 'package') ?? null)
  if (packageName === undefined) return undefined
  const absolute = resolveName(name.slice(level), packageName, level)
  return absolute ?? raiseIfHandled(rt, 'ImportError', 'beyond top-level package')
}

/** A module runs once here: running it again would register its nodes again. */
const reload: NativeCall = (_rt, [module]) => module

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
  files: (rt, [anchor]) =>
    ifKnown(folderOf(rt, anchor ?? rt.state.scope.module), (folder) => makePathlibPath(rt, folder)),
}

const SUBMODULES = {
  util: makeImportlibUtil,
  machinery: makeImportlibMachinery,
  resources: makeImportlibResources,
}
