import { isModule, isUnknown } from '../values/read-value.ts'
import { pathOf } from '../operate/arguments.ts'
import { readItems } from '../operate/iterate.ts'
import { makePackModule, runModule } from './run-module.ts'
import { words } from '../../words.ts'
import { raise, Raised, raiseMissing, recordMissing } from '../operate/raise.ts'
import { isAbsent, raiseIfAbsent } from './absent-names.ts'
import { KNOWN_MODULES } from './known-modules.ts'
import { makeList, makeUnknown } from '../values/make-value.ts'
import type { Origin, Runtime, Value } from '../types.ts'

interface ModuleFile {
  file: string
  isPackage: boolean
}

/**
 * Imports by absolute dotted name and gives the module itself (not the first package, as `import a.b` would). Raises
 * ImportError for a module missing in the pack; foreign names give unknowns.
 */
export function importModule(rt: Runtime, dottedName: string): Value {
  const name = canonicalName(rt, dottedName)
  const loaded = rt.modules.get(name)
  if (loaded !== undefined && loaded !== null) return loaded
  const head = name.split('.', 1)[0] ?? name
  const isOwn = head === rt.files.packageName || isLoadedPackage(rt, head)
  const known = isOwn ? undefined : importForeign(rt, name, head)
  return known === undefined ? importFromPack(rt, name) : known
}

/** Finds the file of a module of the pack, without reading it. */
export function findModule(rt: Runtime, name: string): ModuleFile | undefined {
  return findFile(rt, canonicalName(rt, name))
}

export function normaliseName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]/g, '')
}

/** The pack's own names, with `custom_nodes.` before them or not, all stand for the one name it is imported under. */
function canonicalName(rt: Runtime, name: string): string {
  const { packageName } = rt.files
  if (name === packageName || name.startsWith(`${packageName}.`)) return name
  const segments = name.split('.')
  const isPrefixed = segments[0] === 'custom_nodes' && segments.length > 1
  const rest = isPrefixed ? segments.slice(1) : segments
  // What `sys.path` finds comes first: an inner package may have nearly the name of the pack.
  if (!isPrefixed && pathFolders(rt).some((folder) => findIn(rt, folder, rest[0] ?? '')))
    return name
  // A name may hold dots itself, so more than one segment may make it up.
  for (let count = 1; count <= Math.min(rest.length, 4); count += 1) {
    const head = rest.slice(0, count).join('.')
    if (!rt.ownNames.has(normaliseName(head))) continue
    if (!isPrefixed && isForeign(rest[0] ?? '')) continue
    return [packageName, ...rest.slice(count)].join('.')
  }
  return name
}

function isForeign(head: string): boolean {
  const { standardLibrary, host, thirdParty } = KNOWN_MODULES
  return standardLibrary.has(head) || host.has(head) || thirdParty.has(head)
}

function isLoadedPackage(rt: Runtime, head: string): boolean {
  const module = rt.modules.get(head)
  return isModule(module) && module.home === 'pack'
}

function importForeign(rt: Runtime, name: string, head: string): Value | undefined {
  const { standardLibrary, host, thirdParty } = KNOWN_MODULES
  if (standardLibrary.has(head)) {
    raiseIfAbsent(rt, name, 'ModuleNotFoundError', `No module named '${name}'`)
    return importFromLibrary(rt, name)
  }
  if (host.has(head)) return foreignModule(rt, name, 'host')
  return thirdParty.has(head) ? foreignModule(rt, name, 'third-party') : undefined
}

function importFromLibrary(rt: Runtime, name: string): Value {
  const make = rt.library.find(name)
  if (!make) return foreignModule(rt, name, 'standard-library')
  const module = make(rt)
  rt.modules.set(name, module)
  bindToParent(rt, name, module)
  return module
}

function bindToParent(rt: Runtime, name: string, module: Value): void {
  const dot = name.lastIndexOf('.')
  if (dot < 0) return
  const parent = rt.modules.get(name.slice(0, dot)) ?? importFromLibrary(rt, name.slice(0, dot))
  if (isModule(parent)) parent.namespace.set(name.slice(dot + 1), module)
}

/** A module outside the pack: it counts as installed, so it is something true. */
function foreignModule(rt: Runtime, name: string, origin: Origin): Value {
  const fact = rt.facts.find(name)
  if (fact !== undefined) return fact
  return Object.assign(makeUnknown(name, origin), { truth: true, isModule: true } as const)
}

/** Imports each package on the way, then the module. Raises where the pack lacks it. */
function importFromPack(rt: Runtime, name: string): Value {
  const segments = name.split('.')
  let module: Value = null
  for (let count = 1; count <= segments.length; count += 1) {
    const dotted = segments.slice(0, count).join('.')
    const parent: Value = module
    module = rt.modules.get(dotted) ?? load(rt, dotted, parent, name)
    if (isUnknown(module)) {
      if (count === 1) return foreignModule(rt, name, 'third-party')
      return module
    }
    if (isModule(parent)) parent.namespace.set(segments[count - 1] ?? '', module)
  }
  return module
}

function load(rt: Runtime, name: string, parent: Value, asked: string): Value {
  const found = findFile(rt, name)
  if (found) return run(rt, name, found)
  if (parent === null) {
    const message = `No module named '${name}'`
    if ((isAbsent(name) || isBeside(rt, name)) && !isRequired(rt, name)) {
      raiseIfAbsent(rt, name, 'ModuleNotFoundError', message)
      raise(rt, 'ModuleNotFoundError', `${message} (write from . import ${name})`)
    }
    rt.state.ranUnknown ||= isSomewhere(rt, name)
    return foreignModule(rt, name, 'third-party')
  }
  if (isThereAs(rt, name, COMPILED)) return makeUnknown(name)
  if (isThereAs(rt, name, TO_COMPILE) || isBuilt(rt, name)) {
    // Without the build the pack does not load.
    recordMissing(rt, name)
    return makeUnknown(name)
  }
  if (typeof parent === 'object' && parent.kind === 'module') {
    // A package may put a submodule of its own making into its names.
    const made = parent.namespace.get(name.slice(name.lastIndexOf('.') + 1))
    if (isModule(made)) return made
  }
  raiseMissing(rt, 'ModuleNotFoundError', asked, `No module named '${name}'`)
  return makeUnknown(name)
}

/** A file of the pack, in a folder that an unknown entry of `sys.path` may be. */
function isSomewhere({ sysPath, files }: Runtime, name: string): boolean {
  if (!sysPath.rest && !sysPath.items.some(isUnknown)) return false
  const ends = [`/${name}.py`, `/${name}/__init__.py`]
  return [...files.files()].some((file) => ends.some((end) => file.endsWith(end)))
}

/** A file beside the importing one, or at the root: hosts search neither. */
function isBeside(rt: Runtime, name: string): boolean {
  const { root, isFile } = rt.files
  const { file = '' } = rt.state.scope.module
  const folders = [root, file.slice(0, Math.max(0, file.lastIndexOf('/')))]
  return (
    !rt.sysPath.items.some(isUnknown) && folders.some((folder) => isFile(`${folder}/${name}.py`))
  )
}

function isRequired({ files: { root, read } }: Runtime, name: string): boolean {
  return ['requirements.txt', 'pyproject.toml'].some((list) => {
    const text = new TextDecoder().decode(read(`${root}/${list}`))
    return normaliseName(text).includes(normaliseName(name))
  })
}

function run(rt: Runtime, name: string, { file, isPackage }: ModuleFile): Value {
  const module = makePackModule(name, file, isPackage)
  rt.modules.set(name, module)
  try {
    runModule(rt, module)
  } catch (error) {
    // As Python does: another import tries again.
    if (error instanceof Raised) rt.modules.delete(name)
    throw error
  }
  // A module may have put something else in its place.
  return rt.modules.get(name) ?? module
}

/** The file of a module whose parent package is loaded, or of a top-level module in a folder of `sys.path`. */
function findFile(rt: Runtime, name: string): ModuleFile | undefined {
  const { files } = rt
  if (name === files.packageName) return findIn(rt, files.root, '')
  const last = lastOf(name)
  for (const folder of foldersAround(rt, name)) {
    const found = findIn(rt, folder, last)
    if (found) return found
  }
  return undefined
}

function lastOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1)
}

/** Folders in which a module may lie. */
function foldersAround(rt: Runtime, name: string): string[] {
  const dot = name.lastIndexOf('.')
  return dot < 0 ? pathFolders(rt) : packageFolders(rt, name.slice(0, dot))
}

function findIn(rt: Runtime, folder: string, name: string): ModuleFile | undefined {
  const { files } = rt
  const path = name === '' ? folder : `${folder}/${name}`
  if (files.isFile(`${path}/__init__.py`)) return { file: `${path}/__init__.py`, isPackage: true }
  if (name !== '' && files.isFile(`${path}.py`)) return { file: `${path}.py`, isPackage: false }
  // A folder without __init__.py is a package all the same, without statements.
  return name !== '' && files.isFolder(path) ? { file: path, isPackage: true } : undefined
}

/** True when the module is there in a form that is no text of Python. */
function isThereAs(rt: Runtime, name: string, form: RegExp): boolean {
  const dot = name.lastIndexOf('.')
  const isIt = (entry: string) => entry.startsWith(`${name.slice(dot + 1)}.`) && form.test(entry)
  return packageFolders(rt, name.slice(0, dot)).some((folder) => rt.files.list(folder)?.some(isIt))
}

const COMPILED = /\.(so|pyd|pyc)$/
const TO_COMPILE = /\.(pyi|pyx|c|cc|cpp|cu|rs)$/
const BUILD_FILES = words('Cargo.toml CMakeLists.txt meson.build')

/** True where something else builds the module: there is a file for that, or its folder has files, but no Python. */
function isBuilt(rt: Runtime, name: string): boolean {
  const { root, isFile, list } = rt.files
  const folders = packageFolders(rt, name.slice(0, name.lastIndexOf('.')))
  const hasBuild = (folder: string) => BUILD_FILES.some((file) => isFile(`${folder}/${file}`))
  const hasNoPython = (folder: string) => {
    const entries = folder === root ? [] : (list(folder) ?? [])
    const isOther = (entry: string) => isFile(`${folder}/${entry}`) && !entry.endsWith('.py')
    return entries.length > 0 && entries.every(isOther)
  }
  return [root, ...folders].some(hasBuild) || folders.some(hasNoPython)
}

/** Folders of the pack on `sys.path`, in its order. */
function pathFolders(rt: Runtime): string[] {
  return foldersIn(rt, rt.sysPath)
}

/** `__path__` of the package; one without `__init__.py` has each folder of its name, as the path is now (PEP 420). */
function packageFolders(rt: Runtime, name: string): string[] {
  const parent = rt.modules.get(name)
  if (isModule(parent)) {
    const own = foldersIn(rt, parent.namespace.get('__path__') ?? makeList([]))
    if (parent.file === undefined || parent.file.endsWith('.py')) return own
    const portions = foldersAround(rt, name).map((folder) => `${folder}/${lastOf(name)}`)
    return [...new Set([...own, ...portions.filter(rt.files.isFolder)])]
  }
  // Not imported yet: asked by find_spec.
  const found = findFile(rt, name)
  if (!found?.isPackage) return []
  return [found.file.endsWith('/__init__.py') ? found.file.slice(0, -12) : found.file]
}

function foldersIn(rt: Runtime, list: Value): string[] {
  return readItems(rt, list)
    .items.map((item) => pathOf(rt, item))
    .filter((path) => path !== undefined)
    .map((path) => rt.files.normalise(path))
    .filter((path) => rt.files.isInside(path))
}
