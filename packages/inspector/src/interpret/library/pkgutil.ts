import { importModule } from '../modules/module-loader.ts'
import { getAttribute } from '../operate/attribute.ts'
import { call } from '../operate/call.ts'
import { textOf } from '../values/read-value.ts'
import { argumentOf, pathOf } from '../operate/arguments.ts'
import { readItems } from '../operate/iterate.ts'
import { makeItemsIterator, makeUnknown } from '../values/make-value.ts'
import { nativeModule } from '../values/native.ts'
import type { Kwargs, ModuleValue, NativeCall, Runtime, Value } from '../types.ts'
import { joinPath } from '../text/path/posix.ts'
import { locate } from './support/pack-file.ts'

/** `pkgutil`: the modules of the pack's folders. */
export const makePkgutil = (rt: Runtime): ModuleValue => {
  const namedTuple = getAttribute(rt, importModule(rt, 'collections'), 'namedtuple')
  const info = call(rt, namedTuple, ['ModuleInfo', 'module_finder name ispkg'])
  return nativeModule('pkgutil', {
    attributes: { ModuleInfo: info },
    functions: { iter_modules: listing(info, false), walk_packages: listing(info, true) },
  })
}

/** A module or package in a folder. */
interface Found {
  name: string
  path: string
  isPackage: boolean
}

const listing =
  (info: Value, deep: boolean): NativeCall =>
  (rt, args, kwargs) => {
    const prefix = textOf(argumentOf(args, kwargs, 1, 'prefix') ?? '')
    const folders = foldersOf(rt, args, kwargs)
    if (prefix === undefined || folders === undefined) return undefined
    const found = folders.flatMap((folder) => findModules(rt, folder, prefix, deep))
    if (!rt.budget.allowItems(found.length)) return undefined
    const entries = found.map(({ name, isPackage }) =>
      call(rt, info, [
        makeUnknown('pkgutil.ModuleInfo.module_finder', 'standard-library'),
        name,
        isPackage,
      ]),
    )
    return makeItemsIterator('generator', entries)
  }

/** Undefined as soon as one lies outside the pack. Without a path it is `sys.path`. */
const foldersOf = (rt: Runtime, args: Value[], kwargs: Kwargs): string[] | undefined => {
  const path = argumentOf(args, kwargs, 0, 'path')
  if (path === undefined || path === null) return undefined
  const { items, rest } = readItems(rt, path)
  const folders = items.map((item) => pathOf(rt, item))
  const inside = folders.map((folder) => (folder === undefined ? undefined : locate(rt, folder)))
  return !rest && inside.every((folder) => folder !== undefined) ? inside : undefined
}

const findModules = (rt: Runtime, folder: string, prefix: string, deep: boolean): Found[] => {
  const names = rt.files.list(folder) ?? []
  rt.budget.step((names.length >> 4) + 1)
  const modules = new Map<string, Found>()
  for (const name of names) {
    const found = readEntry(rt, folder, name)
    if (found === undefined || found.name === '__init__') continue
    // Of a package and a module of one name, the package is the one that an import finds.
    if (found.isPackage || !modules.has(found.name)) modules.set(found.name, found)
  }
  return [...modules.values()].flatMap((found) => {
    const named = { ...found, name: prefix + found.name }
    if (!deep || !found.isPackage) return [named]
    return [named, ...findModules(rt, found.path, `${named.name}.`, true)]
  })
}

const readEntry = (rt: Runtime, folder: string, name: string): Found | undefined => {
  const path = joinPath(folder, name)
  if (name.endsWith('.py')) {
    const stem = name.slice(0, -3)
    return stem.includes('.') || !rt.files.isFile(path)
      ? undefined
      : { name: stem, path, isPackage: false }
  }
  const isPackage = rt.files.isFile(joinPath(path, '__init__.py')) && !name.includes('.')
  return isPackage ? { name, path, isPackage } : undefined
}
