import { argumentOf, flagOf, pathOf } from '../operate/arguments.ts'
import { getEntry } from '../operate/mapping.ts'
import { ifKnown, makeEmptyDict, makeList, makeTuple } from '../values/make-value.ts'
import { pythonModule } from './python-module.ts'
import type { DictValue, ModuleValue, NativeCall, Runtime, Value } from '../types.ts'
import { makeOsPath } from './os-path.ts'
import { loadSubmodule } from './support/library-class.ts'
import { exists, isFile, isFolder, locate } from './support/pack-file.ts'
import { textOf } from '../values/read-value.ts'
import { raiseIfHandled } from '../operate/raise.ts'
import { joinPath } from '../text/path/posix.ts'
import { makeLazy } from './support/lazy.ts'

/** `os`: an empty environment, the files of the pack, and nothing that acts on the machine. */
export const makeOs = (rt: Runtime): ModuleValue => {
  const environ: DictValue = { ...makeEmptyDict(), isAssumed: true }
  return pythonModule('os', {
    attributes: { ...CONSTANTS, path: loadSubmodule(rt, 'os.path', makeOsPath), environ },
    functions: { ...FUNCTIONS, getenv: makeGetenv(environ) },
    quiet: QUIET,
    machine: MACHINE,
  })(rt)
}

const CONSTANTS = {
  name: 'posix',
  sep: '/',
  pathsep: ':',
  linesep: '\n',
  curdir: '.',
  pardir: '..',
  devnull: '/dev/null',
  R_OK: 4n,
  W_OK: 2n,
  X_OK: 1n,
}

const QUIET =
  'makedirs mkdir removedirs rmdir remove unlink rename renames replace symlink link chmod chown ' +
  'utime chdir putenv unsetenv add_dll_directory truncate close kill umask nice sync mkfifo'

const MACHINE =
  'cpu_count getpid getppid getuid getgid getlogin uname stat lstat fstat urandom ' +
  'times getloadavg get_terminal_size sched_getaffinity statvfs readlink'

/** Missing variables are None: nothing is set. */
const makeGetenv =
  (environ: DictValue): NativeCall =>
  (rt, args, kwargs) =>
    ifKnown(
      argumentOf(args, kwargs, 0, 'key'),
      (name) => getEntry(rt, environ, name) ?? argumentOf(args, kwargs, 1, 'default') ?? null,
    )

/** Names in a folder of the pack; one that is missing there raises where the pack is prepared for it. */
export const listFolder = (rt: Runtime, folder: string): string[] | undefined => {
  const inside = locate(rt, folder)
  if (inside === undefined) return undefined
  const names = rt.files.list(inside)
  if (names === undefined) return raiseIfHandled(rt, 'FileNotFoundError', inside)
  rt.budget.step((names.length >> 4) + 1)
  return rt.budget.allowItems(names.length) ? names : undefined
}

const listdir: NativeCall = (rt, args, kwargs) => {
  const folder = pathOf(rt, argumentOf(args, kwargs, 0, 'path') ?? '.')
  const names = folder === undefined ? undefined : listFolder(rt, folder)
  return names === undefined ? undefined : makeList(names)
}

/** Folders above before those below: the caller may take names out of the list of folders. */
const walk: NativeCall = (rt, args, kwargs) => {
  const top = pathOf(rt, argumentOf(args, kwargs, 0, 'top'))
  const downwards = flagOf(rt, argumentOf(args, kwargs, 1, 'topdown'), true)
  if (top === undefined || downwards === undefined || locate(rt, top) === undefined) {
    return undefined
  }
  return makeLazy(rt, () => walkFolder(rt, top, downwards))
}

function* walkFolder(rt: Runtime, folder: string, downwards: boolean): Generator<Value, void> {
  const inside = locate(rt, folder)
  const names = inside === undefined ? undefined : rt.files.list(inside)
  if (names === undefined) return
  rt.budget.step((names.length >> 4) + 1)
  const folders = makeList(names.filter((name) => isFolder(rt, joinPath(folder, name)) === true))
  const files = makeList(names.filter((name) => isFile(rt, joinPath(folder, name)) === true))
  const entry = makeTuple([folder, folders, files])
  if (downwards) yield entry
  for (const item of folders.items.slice()) {
    const name = textOf(item)
    if (name !== undefined) yield* walkFolder(rt, joinPath(folder, name), downwards)
  }
  if (!downwards) yield entry
}

/** Folders are those of the pack, sorted; all others are unknown. */
const FUNCTIONS: Record<string, NativeCall> = {
  getcwd: (rt) => rt.files.normalise('.'),
  fspath: (rt, [path]) => pathOf(rt, path),
  access: (rt, [path]) => ifKnown(pathOf(rt, path), (text) => exists(rt, text)),
  listdir,
  walk,
}
