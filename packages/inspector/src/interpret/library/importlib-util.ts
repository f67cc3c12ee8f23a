import { textOf } from '../values/payload.ts'
import { argumentOf, pathOf } from '../operate/arguments.ts'
import { findModule, resolveName } from '../modules/module-loader.ts'
import { makePackModule } from '../modules/run-module.ts'
import { nativeFunction, nativeModule } from '../values/native.ts'
import type { ModuleValue, NativeCall, Value } from '../values/value.ts'
import { makeFileSpec, readSpec } from './module-spec.ts'
import { functionsOf } from './support/names.ts'
import { locate } from './support/pack-file.ts'

/** `importlib.util`: specs of the pack's files, and modules made from them. */
export const makeImportlibUtil = (): ModuleValue =>
  nativeModule('importlib.util', [
    ['module_from_spec', nativeFunction('importlib.util.module_from_spec', moduleFromSpec)],
    ...functionsOf('importlib.util', {
      spec_from_file_location: specFromFile,
      find_spec: findSpec,
    }),
  ])

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

const moduleFromSpec: NativeCall = (_rt, [spec]) => {
  const known = readSpec(spec)
  if (known === undefined || spec === undefined) return undefined
  const module = makePackModule(known.name, known.file, known.isPackage)
  module.namespace.set('__spec__', spec)
  return module
}

/** Finds the spec of a module of the pack; nobody knows whether others are installed. */
const findSpec: NativeCall = (rt, args, kwargs) => {
  const name = textOf(argumentOf(args, kwargs, 0, 'name'))
  const absolute = name === undefined ? undefined : absoluteName(name, args, kwargs)
  const found = absolute === undefined ? undefined : findModule(rt, absolute)
  if (absolute === undefined || found === undefined) return undefined
  return makeFileSpec(rt, { name: absolute, ...found })
}

const absoluteName = (
  name: string,
  args: Value[],
  kwargs: ReadonlyMap<string, Value>,
): string | undefined => {
  const level = name.length - name.replace(/^\.+/, '').length
  const packageName = textOf(argumentOf(args, kwargs, 1, 'package') ?? null)
  if (level === 0) return name
  return packageName === undefined ? undefined : resolveName(name.slice(level), packageName, level)
}
