import { words } from '../../words.ts'
import NAMES from '../modules/standard-library.json' with { type: 'json' }
import { raise } from '../operate/raise.ts'
import {
  makeInstance,
  makeList,
  makeNamespaceDict,
  makeTuple,
  makeUnknown,
} from '../values/make-value.ts'
import { nativeClass, nativeModule } from '../values/native.ts'
import type { InstanceValue, ModuleValue, Origin, Runtime, Value } from '../types.ts'

/** Python version that packs see. */
const VERSION = { major: 3n, minor: 12n, micro: 0n, releaselevel: 'final', serial: 0n }

/** `sys`: Linux, Python 3.12, the live `path` and `modules`. */
export const makeSys = (rt: Runtime): ModuleValue => {
  const module = nativeModule('sys', {
    attributes: {
      ...unknowns(NAMES.sys, 'standard-library'),
      path: rt.sysPath,
      // More is imported in the host than by the pack.
      modules: makeNamespaceDict(rt.modules, true),
      platform: 'linux',
      version_info: makeVersion(rt),
      byteorder: 'little',
      maxsize: 2n ** 63n - 1n,
      float_info: makeFloatInfo(rt),
      argv: makeList([makeUnknown('sys.argv[0]', 'machine')], true),
      meta_path: makeList([], true),
      dont_write_bytecode: false,
      builtin_module_names: makeTuple([], true),
      stdout: makeStream(rt, 'stdout'),
      stderr: makeStream(rt, 'stderr'),
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
  })
  // It has all names: `frozen` and `_MEIPASS` are those of another loader.
  return Object.assign(module, { complete: true })
}

const unknowns = (names: string, origin: Origin): Record<string, Value> =>
  Object.fromEntries(words(names).map((name) => [name, makeUnknown(`sys.${name}`, origin)]))

/** `sys.float_info`: properties of a double. */
const FLOAT_INFO = {
  max: Number.MAX_VALUE,
  max_exp: 1024n,
  max_10_exp: 308n,
  min: 2 ** -1022,
  min_exp: -1021n,
  min_10_exp: -307n,
  dig: 15n,
  mant_dig: 53n,
  epsilon: Number.EPSILON,
  radix: 2n,
  rounds: 1n,
}

const makeFloatInfo = (rt: Runtime): InstanceValue => {
  const info = makeInstance(nativeClass(rt, { name: 'float_info', module: 'sys' }))
  for (const [name, value] of Object.entries(FLOAT_INFO)) info.attributes.set(name, value)
  return info
}

/** A tuple with names, `>= (3, 10)` as well as `.minor`. */
const makeVersion = (rt: Runtime): InstanceValue => {
  const tuple = rt.builtinClass('tuple')
  const cls = nativeClass(rt, {
    name: 'version_info',
    module: 'sys',
    bases: [tuple],
    payload: 'tuple',
  })
  const version = makeInstance(cls, makeTuple(Object.values(VERSION)))
  for (const [name, value] of Object.entries(VERSION)) version.attributes.set(name, value)
  return version
}

/** A stream that takes whatever is written. */
const makeStream = (rt: Runtime, name: string): Value => {
  const stream = makeInstance(
    nativeClass(rt, {
      name: 'TextIOWrapper',
      module: 'io',
      methods: {
        isatty: () => false,
        fileno: () => (name === 'stdout' ? 1n : 2n),
      },
      quiet: 'write flush close reconfigure writelines',
    }),
  )
  stream.attributes.set('encoding', 'utf-8')
  stream.attributes.set('name', `<${name}>`)
  return stream
}
