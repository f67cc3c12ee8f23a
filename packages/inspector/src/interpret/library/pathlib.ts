import { openFile } from './io.ts'
import { listFolder } from './os.ts'
import { likePath, makePath, PURE_PATH, textOfPath } from './pathlib-pure-path.ts'
import { findLibraryClass } from './support/library-class.ts'
import { nativeClass, nativeModule, type NativeClass } from '../values/native.ts'
import {
  exists,
  globFilesOf,
  isFile,
  isFolder,
  locate,
  readBytes,
  readText,
} from './support/pack-file.ts'
import { argumentOf, pathOf } from '../operate/arguments.ts'
import type { ModuleValue, NativeCall, Runtime, Truth, Value } from '../types.ts'
import { globPaths } from '../text/path/glob.ts'
import { joinPath, normalizePath } from '../text/path/posix.ts'
import { isClass, textOf } from '../values/read-value.ts'
import { ifKnown, makeItemsIterator, makeUnknown } from '../values/make-value.ts'

const asked =
  (ask: (rt: Runtime, path: string) => Truth): NativeCall =>
  (rt, [self]) =>
    ifKnown(textOfPath(self), (path) => ask(rt, path))

const absolute: NativeCall = (rt, [self]) =>
  ifKnown(textOfPath(self), (path) => likePath(self, rt.files.normalise(path)))

/** Patterns of pathlib are recursive, and see hidden names. */
const glob = (rt: Runtime, self: Value | undefined, pattern: string | undefined) => {
  const folder = textOfPath(self)
  if (folder === undefined || pattern === undefined) return undefined
  if (locate(rt, folder) === undefined) return undefined
  const parts = normalizePath(pattern)
  const options = { recursive: true, includeHidden: true }
  const paths = globPaths(folder, parts, globFilesOf(rt), options)
  if (paths === undefined || !rt.budget.allowItems(paths.length)) return undefined
  // A last `**` finds folders only.
  const kept = parts.endsWith('**') ? paths.filter((path) => isFolder(rt, path) === true) : paths
  const found = kept.map((path) => likePath(self, path) ?? path)
  return makeItemsIterator('generator', found)
}

const QUIET = 'mkdir touch unlink rmdir chmod symlink_to hardlink_to write_text write_bytes'

const METHODS: Record<string, NativeCall> = {
  exists: asked(exists),
  is_file: asked(isFile),
  is_dir: asked(isFolder),
  is_symlink: asked((rt, path) => (locate(rt, path) === undefined ? undefined : false)),
  resolve: absolute,
  absolute,
  expanduser: (_rt, [self]) =>
    textOfPath(self)?.startsWith('~') === true ? undefined : (self ?? null),
  iterdir: (rt, [self]) => {
    const folder = textOfPath(self)
    const names = folder === undefined ? undefined : listFolder(rt, folder)
    if (folder === undefined || names === undefined) return undefined
    const paths = names.map((name) => likePath(self, joinPath(folder, name)) ?? name)
    return makeItemsIterator('generator', paths)
  },
  glob: (rt, [self, pattern]) => glob(rt, self, pathOf(rt, pattern)),
  rglob: (rt, [self, pattern]) =>
    ifKnown(pathOf(rt, pattern), (text) => glob(rt, self, `**/${text}`)),
  open: (rt, [self = null, ...args], kwargs) => openFile(rt, [self, ...args], kwargs),
  read_text: (rt, [self, ...args], kwargs) => {
    const path = textOfPath(self)
    const encoding = textOf(argumentOf(args, kwargs, 0, 'encoding') ?? null)
    const errors = textOf(argumentOf(args, kwargs, 1, 'errors') ?? null)
    return path === undefined ? undefined : readText(rt, path, encoding, errors)
  },
  read_bytes: (rt, [self]) => {
    const path = textOfPath(self)
    const data = path === undefined ? undefined : readBytes(rt, path)
    return data === undefined ? undefined : { kind: 'bytes', data }
  },
  rename: (_rt, [, target]) => target,
  replace: (_rt, [, target]) => target,
  stat: () => makeUnknown('pathlib.Path.stat()', 'machine'),
}

const CLASS_METHODS: Record<string, NativeCall> = {
  cwd: (rt, [cls]) => (isClass(cls) ? makePath(cls, rt.files.normalise('.')) : undefined),
  home: () => makeUnknown('pathlib.Path.home()', 'machine'),
}

/** The part of pathlib that asks the file system. What lies outside the pack is unknown. */
const PATH = { name: 'Path', methods: METHODS, classMethods: CLASS_METHODS, quiet: QUIET }

/** `pathlib`, for the flavour of Linux. */
export const makePathlib = (rt: Runtime): ModuleValue => {
  const base = findLibraryClass(rt, 'os', 'PathLike') ?? rt.builtinClass('object')
  const make = (definition: Omit<NativeClass, 'module'>) =>
    nativeClass(rt, { ...definition, module: 'pathlib' })
  const pure = make({ ...PURE_PATH, bases: [base] })
  const purePosix = make({ name: 'PurePosixPath', bases: [pure] })
  const path = make({ ...PATH, bases: [pure] })
  const posix = make({ name: 'PosixPath', bases: [path, purePosix] })
  return nativeModule('pathlib', {
    attributes: { PurePath: pure, PurePosixPath: purePosix, Path: path, PosixPath: posix },
  })
}
