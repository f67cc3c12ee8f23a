import { argumentOf, pathOf } from '../operate/arguments.ts'
import { getEntry } from '../operate/mapping.ts'
import { ifKnown, makeEmptyDict } from '../values/make-value.ts'
import { nativeClass, nativeFunction, nativeModule } from '../values/native.ts'
import type { Runtime } from '../runtime.ts'
import type { DictValue, ModuleValue, NativeCall, Value } from '../values/value.ts'
import { makeOsPath } from './os-path.ts'
import { makeFolderNames } from './os-folder.ts'
import { loadSubmodule } from './support/library-class.ts'
import { functionsOf, machineFunctions, quietFunctions } from './support/names.ts'
import { exists } from './support/pack-file.ts'

/** `os`: an empty environment, the files of the pack, and nothing that acts on the machine. */
export const makeOs = (rt: Runtime): ModuleValue => {
  const environ = makeEmptyDict()
  return nativeModule('os', [
    ...CONSTANTS,
    ['path', loadSubmodule(rt, 'os.path', makeOsPath)],
    ['environ', environ],
    ['getenv', makeGetenv(environ)],
    ['PathLike', nativeClass(rt, { name: 'PathLike', module: 'os' })],
    ...makeFolderNames(rt),
    ...functionsOf('os', FUNCTIONS),
    ...quietFunctions('os', QUIET),
    ...machineFunctions('os', MACHINE),
  ])
}

const CONSTANTS = [
  ['name', 'posix'],
  ['sep', '/'],
  ['pathsep', ':'],
  ['linesep', '\n'],
  ['curdir', '.'],
  ['pardir', '..'],
  ['devnull', '/dev/null'],
  ['R_OK', 4n],
  ['W_OK', 2n],
  ['X_OK', 1n],
] as const

const QUIET =
  'makedirs mkdir removedirs rmdir remove unlink rename renames replace symlink link chmod chown ' +
  'utime chdir putenv unsetenv add_dll_directory truncate close kill umask nice sync mkfifo'

const MACHINE =
  'cpu_count getpid getppid getuid getgid getlogin uname stat lstat fstat urandom system popen ' +
  'times getloadavg get_terminal_size sched_getaffinity statvfs readlink'

/** Missing variables are None: nothing is set. */
const makeGetenv = (environ: DictValue): Value =>
  nativeFunction('os.getenv', (rt, args, kwargs) =>
    ifKnown(
      argumentOf(args, kwargs, 0, 'key'),
      (name) => getEntry(rt, environ, name) ?? argumentOf(args, kwargs, 1, 'default') ?? null,
    ),
  )

const FUNCTIONS: Record<string, NativeCall> = {
  getcwd: (rt) => rt.files.normalise('.'),
  fspath: (rt, [path]) => pathOf(rt, path),
  access: (rt, [path]) => ifKnown(pathOf(rt, path), (text) => exists(rt, text)),
}
