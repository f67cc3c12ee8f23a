import { makeFileSpec, makeImportlibMachinery, readSpec } from './module-spec.ts'
import { loadSubmodule } from './support/library-class.ts'
import { nativeModule } from '../values/native.ts'
import { findModule, importModule } from '../modules/module-loader.ts'
import { resolveName } from '../modules/resolve-name.ts'
import { argumentOf, pathOf } from '../operate/arguments.ts'
import { raiseIfHandled } from '../operate/raise.ts'
import type { Kwargs, ModuleValue, NativeCall, Runtime, Value } from '../types.ts'
import { textOf } from '../values/read-value.ts'
import { ifKnown } from '../values/make-value.ts'
import { makePackModule } from '../modules/run-module.ts'
import { locate } from './support/pack-file.ts'

/** `importlib`, with its submodules as attributes. */
export const makeImportlib = (rt: Runtime): ModuleValue =>
  nativeModule('importlib', {
    attributes: {
      util: loadSubmodule(rt, 'importlib.util', makeImportlibUtil),
      machinery: loadSubmodule(rt, 'importlib.machinery', makeImportlibMachinery),
    },
    functions: { import_module: importNamed, reload, __import__: importNamed },
    quiet: 'invalidate_caches',
  })

const importNamed: NativeCall = (rt, args, kwargs) => {
  const name = textOf(argumentOf(args, kwargs, 0, 'name'))
  const absolute = name === undefined ? undefined : absoluteName(name, args, kwargs)
  if (absolute === null) return raiseIfHandled(rt, 'ImportError', 'beyond top-level package')
  return absolute === undefined ? undefined : importModule(rt, absolute)
}

/** `.a.b` is read from the package given; undefined where none is. Null for a name above the top of that package. */
const absoluteName = (name: string, args: Value[], kwargs: Kwargs): string | null | undefined => {
  const level = name.length - name.replace(/^\.+/, '').length
  if (level === 0) return name
  const packageName = textOf(argumentOf(args, kwargs, 1, 'package') ?? null)
  if (packageName === undefined) return undefined
  return resolveName(name.slice(level), packageName, level) ?? null
}

/** A module runs once here: running it again would register its nodes again. */
const reload: NativeCall = (_rt, [module]) => module

/** `importlib.util`: specs of the pack's files, and modules made from them. */
export const makeImportlibUtil = (): ModuleValue =>
  nativeModule('importlib.util', {
    functions: {
      module_from_spec: moduleFromSpec,
      spec_from_file_location: specFromFile,
      spec_from_loader: specFromLoader,
      find_spec: findSpec,
    },
  })

/** A file outside the pack gives an unknown spec. */
const specFromFile: NativeCall = (rt, args, kwargs) => {
  const name = textOf(argumentOf(args, kwargs, 0, 'name'))
  const path = pathOf(rt, argumentOf(args, kwargs, 1, 'location'))
  const inside = path === undefined ? undefined : locate(rt, path)
  if (name === undefined || inside === undefined) return undefined
  const folders = kwargs.get('submodule_search_locations') ?? null
  const isPackage = inside.endsWith('/__init__.py') || folders !== null
  // A folder is taken for its package, as some packs mean it.
  const file = rt.files.isFolder(inside) ? `${inside}/__init__.py` : inside
  return makeFileSpec(rt, { name, file, isPackage: isPackage || file !== inside })
}

/** The loader knows its file. */
const specFromLoader: NativeCall = (rt, [name, loader]) => {
  const known = readSpec(loader)
  const text = textOf(name)
  return known && text !== undefined ? makeFileSpec(rt, { ...known, name: text }) : undefined
}

const moduleFromSpec: NativeCall = (_rt, [spec]) => {
  const known = readSpec(spec)
  if (known === undefined || spec === undefined) return undefined
  const module = makePackModule(known.name, known.file, known.isPackage)
  module.namespace.set('__spec__', spec)
  return module
}

/** Finds the spec of a module of the pack, or that there is none; nobody knows whether others are installed. */
const findSpec: NativeCall = (rt, args, kwargs) => {
  const name = textOf(argumentOf(args, kwargs, 0, 'name'))
  const absolute = (name === undefined ? undefined : absoluteName(name, args, kwargs)) ?? undefined
  const found = ifKnown(absolute, (name) => findModule(rt, name))
  if (absolute === undefined) return undefined
  const isOwn = absolute.startsWith(`${rt.files.packageName}.`)
  if (found === undefined) return isOwn && !rt.state.mayHaveWritten ? null : undefined
  return makeFileSpec(rt, { name: absolute, ...found })
}
