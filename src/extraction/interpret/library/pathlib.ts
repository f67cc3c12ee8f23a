import { nativeModule } from '../values/native.ts'
import type { Runtime } from '../runtime.ts'
import type { ModuleValue } from '../values/value.ts'
import { makePathClass } from './pathlib-path.ts'
import { makePurePathClass } from './pathlib-pure-path.ts'
import { findLibraryClass } from './support/library-class.ts'

/** `pathlib`, for the flavour of Linux. */
export const makePathlib = (rt: Runtime): ModuleValue => {
  const pure = makePurePathClass(rt, 'PurePath', findLibraryClass(rt, 'os', 'PathLike'))
  const purePosix = makePurePathClass(rt, 'PurePosixPath', pure)
  const path = makePathClass(rt, 'Path', [pure])
  const posix = makePathClass(rt, 'PosixPath', [path, purePosix])
  return nativeModule('pathlib', [
    ['PurePath', pure],
    ['PurePosixPath', purePosix],
    ['Path', path],
    ['PosixPath', posix],
  ])
}
