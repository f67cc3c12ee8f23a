import { argumentOf, pathOf } from '../operate/arguments.ts'
import { ifKnown, makeTuple } from '../values/make-value.ts'
import { nativeModule } from '../values/native.ts'
import type { ModuleValue, NativeCall, Runtime, Truth, Value } from '../types.ts'
import {
  basename,
  dirname,
  isAbsolute,
  joinPath,
  normalizePath,
  relativePath,
  splitExtension,
  splitPath,
} from '../text/path/posix.ts'
import { exists, isFile, isFolder, locate } from './support/pack-file.ts'

/** `os.path`: results that follow from the text are known; those that depend on files outside the pack are not. */
export const makeOsPath = (): ModuleValue =>
  nativeModule('os.path', {
    attributes: { sep: '/', pardir: '..' },
    functions: FUNCTIONS,
    machine: 'getmtime getatime getctime expandvars ismount samefile',
  })

/** A function of one path. */
const ofPath =
  (call: (path: string, rt: Runtime) => Value | undefined): NativeCall =>
  (rt, args, kwargs) =>
    ifKnown(pathOf(rt, args[0] ?? kwargs.get('path') ?? kwargs.get('p')), (path) => call(path, rt))

const asked = (ask: (rt: Runtime, path: string) => Truth): NativeCall =>
  ofPath((path, rt) => ask(rt, path))

/** Relative paths start at the host's folder. */
const absolute: NativeCall = ofPath((path, rt) => rt.files.normalise(path))

const FUNCTIONS: Record<string, NativeCall> = {
  join: (rt, args) => {
    const [first, ...parts] = args.map((part) => pathOf(rt, part))
    if (first === undefined || !parts.every((part) => part !== undefined)) return undefined
    const path = joinPath(first, ...parts)
    return rt.budget.allowString(path.length) ? path : undefined
  },
  dirname: ofPath(dirname),
  basename: ofPath(basename),
  normpath: ofPath(normalizePath),
  normcase: ofPath((path) => path),
  isabs: ofPath(isAbsolute),
  split: ofPath((path) => makeTuple(splitPath(path))),
  splitext: ofPath((path) => makeTuple(splitExtension(path))),
  splitdrive: ofPath((path) => makeTuple(['', path])),
  abspath: absolute,
  realpath: absolute,
  exists: asked(exists),
  lexists: asked(exists),
  isfile: asked(isFile),
  isdir: asked(isFolder),
  islink: ofPath((path, rt) => (locate(rt, path) === undefined ? undefined : false)),
  getsize: ofPath((path, rt) => {
    const inside = locate(rt, path)
    const size = inside === undefined ? undefined : rt.files.size(inside)
    return size === undefined ? undefined : BigInt(size)
  }),
  expanduser: ofPath((path) => (path.startsWith('~') ? undefined : path)),
  relpath: (rt, args, kwargs) => {
    const path = pathOf(rt, args[0] ?? kwargs.get('path'))
    const start = argumentOf(args, kwargs, 1, 'start')
    const from = start === undefined || start === null ? '' : pathOf(rt, start)
    if (path === undefined || path === '' || from === undefined) return undefined
    return relativePath(rt.files.normalise(path), rt.files.normalise(from))
  },
}
