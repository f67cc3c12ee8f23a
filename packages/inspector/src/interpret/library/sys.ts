import { words } from '../../words.ts'
import NAMES from '../modules/standard-library.json' with { type: 'json' }
import { raise } from '../operate/raise.ts'
import { makeList, makeNamespaceDict, makeTuple, makeUnknown } from '../values/make-value.ts'
import { pythonModule } from './python-module.ts'
import type { ModuleValue, Origin, Runtime, Value } from '../types.ts'

/** `sys`: Linux, Python 3.12, the live `path` and `modules`. */
export const makeSys = (rt: Runtime): ModuleValue => {
  const module = pythonModule('sys', {
    attributes: {
      ...unknowns(NAMES.sys, 'standard-library'),
      path: rt.sysPath,
      // More is imported in the host than by the pack.
      modules: makeNamespaceDict(rt.modules, true),
      platform: 'linux',
      byteorder: 'little',
      maxsize: 2n ** 63n - 1n,
      argv: makeList([makeUnknown('sys.argv[0]', 'machine')], true),
      meta_path: makeList([], true),
      dont_write_bytecode: false,
      builtin_module_names: makeTuple([], true),
      ...unknowns('executable version prefix base_prefix exec_prefix', 'machine'),
    },
    functions: {
      getdefaultencoding: () => 'utf-8',
      exc_info: () => makeTuple([null, null, null]),
      intern: (_rt, [text]) => text,
      exit: (rt) => raise(rt, 'SystemExit'),
    },
    quiet: 'setrecursionlimit settrace setprofile addaudithook exit_handler',
    machine: 'getsizeof getrefcount _getframe gettrace',
  })(rt)
  // It has all names: `frozen` and `_MEIPASS` are those of another loader.
  return Object.assign(module, { complete: true })
}

const unknowns = (names: string, origin: Origin): Record<string, Value> =>
  Object.fromEntries(words(names).map((name) => [name, makeUnknown(`sys.${name}`, origin)]))
