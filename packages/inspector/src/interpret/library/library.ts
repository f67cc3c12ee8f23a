import { makeCopy } from './copy.ts'
import { makeGlob } from './glob.ts'
import { makeImportlib, makeImportlibUtil } from './importlib.ts'
import { makeInspect } from './inspect.ts'
import { makeIo } from './io.ts'
import { makeItertools } from './itertools.ts'
import { makeJson, makeJsonDecoder } from './json.ts'
import { makeImportlibMachinery } from './module-spec.ts'
import { makeOsPath } from './os-path.ts'
import { makeOs } from './os.ts'
import { makePathlib } from './pathlib.ts'
import { pythonModule } from './python-module.ts'
import { makeRe } from './re.ts'
import { makeSys } from './sys.ts'
import { makeTypes } from './types.ts'
import type { LibraryRegistry, ModuleValue, Runtime } from '../types.ts'
import { nativeModule } from '../values/native.ts'

type MakeModule = (rt: Runtime) => ModuleValue

/**
 * The modules of the standard library that are more than unknowns. Those of the clock, of chance, of the network and of
 * processes are left out on purpose: all they return depends on the machine.
 */
export const LIBRARY: LibraryRegistry = { find: (name) => MODULES.get(name) }

const WRITTEN_IN_PYTHON = (
  'abc asyncio atexit collections concurrent.futures configparser contextlib dataclasses enum ' +
  'functools math pkgutil runpy shutil string textwrap threading typing'
).split(' ')

const MODULES: ReadonlyMap<string, MakeModule> = new Map<string, MakeModule>([
  ...WRITTEN_IN_PYTHON.map((name) => [name, pythonModule(name)] as const),
  // What a pack puts there, every module sees.
  ['builtins', (rt) => ({ ...nativeModule('builtins'), namespace: rt.builtins })],
  ['concurrent', () => nativeModule('concurrent')],
  ['copy', makeCopy],
  ['glob', makeGlob],
  ['importlib', makeImportlib],
  ['importlib.machinery', makeImportlibMachinery],
  ['importlib.util', makeImportlibUtil],
  ['inspect', makeInspect],
  ['io', makeIo],
  ['itertools', makeItertools],
  ['json', makeJson],
  ['json.decoder', makeJsonDecoder],
  ['os', makeOs],
  ['os.path', makeOsPath],
  ['pathlib', makePathlib],
  ['posixpath', makeOsPath],
  ['re', makeRe],
  ['sys', makeSys],
  ['types', makeTypes],
])
