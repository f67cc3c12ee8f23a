import { isModule, textOf } from '../values/read-value.ts'
import { argumentOf, pathOf } from '../operate/arguments.ts'
import { runModule } from '../modules/run-module.ts'
import { raiseMissing } from '../operate/raise.ts'
import { makeInstance, makeList } from '../values/make-value.ts'
import { nativeClass, nativeModule, nativeState } from '../values/native.ts'
import type { ModuleValue, NativeCall, Runtime, Value } from '../types.ts'
import { dirname } from '../text/path/posix.ts'
import { makeLibraryInstance } from './support/library-class.ts'
import { locate } from './support/pack-file.ts'

/** Facts that a spec or loader holds about a module of the pack. */
interface SpecState {
  name: string
  /** Absolute path. */
  file: string
  isPackage: boolean
}

const SPEC = nativeState<SpecState>('importlib.machinery')

/** `importlib.machinery`: specs, and loaders that read files of the pack. */
export const makeImportlibMachinery = (rt: Runtime): ModuleValue => {
  const loader = nativeClass(rt, {
    name: 'SourceFileLoader',
    module: 'importlib.machinery',
    construct: (rt, cls, args, kwargs) => {
      const name = textOf(argumentOf(args, kwargs, 0, 'fullname'))
      const path = pathOf(rt, argumentOf(args, kwargs, 1, 'path'))
      const file = path === undefined ? undefined : locate(rt, path)
      if (name === undefined || file === undefined) return undefined
      const state: SpecState = { name, file, isPackage: file.endsWith('/__init__.py') }
      return makeInstance(cls, undefined, SPEC.wrap(state), { name, path: file })
    },
    methods: {
      __init__: () => null,
      exec_module: execModule,
    },
  })
  const spec = nativeClass(rt, { name: 'ModuleSpec', module: 'importlib.machinery' })
  return nativeModule('importlib.machinery', {
    attributes: {
      SourceFileLoader: loader,
      ModuleSpec: spec,
      SOURCE_SUFFIXES: makeList(['.py']),
    },
  })
}

/** A spec whose loader reads the file. */
export const makeFileSpec = (rt: Runtime, state: SpecState): Value => {
  const { name, file, isPackage } = state
  const wrapped = SPEC.wrap(state)
  const machinery = (cls: string, attributes: Record<string, Value>): Value =>
    makeLibraryInstance(rt, ['importlib.machinery', cls], wrapped, attributes)
  const dot = name.lastIndexOf('.')
  return machinery('ModuleSpec', {
    name,
    origin: file,
    loader: machinery('SourceFileLoader', { name, path: file }),
    has_location: true,
    cached: null,
    parent: isPackage ? name : name.slice(0, Math.max(0, dot)),
    submodule_search_locations: isPackage ? makeList([dirname(file)]) : null,
  })
}

export const readSpec = (spec: Value | undefined): SpecState | undefined => SPEC.of(spec)

/** Runs the file in the module; one that is missing raises where the pack is prepared for it. */
const execModule: NativeCall = (rt, [, module]) => {
  if (!isModule(module) || module.file === undefined) {
    return undefined
  }
  if (!rt.files.isFile(module.file)) return raiseNoFile(rt, module.file)
  runModule(rt, module)
  return null
}

const raiseNoFile = (rt: Runtime, file: string): undefined =>
  raiseMissing(rt, 'FileNotFoundError', file.slice(rt.files.root.length + 1), file)
