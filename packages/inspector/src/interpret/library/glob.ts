import { argumentOf, flagOf, pathOf } from '../operate/arguments.ts'
import { ifKnown, makeList } from '../values/make-value.ts'
import { nativeModule } from '../values/native.ts'
import type { Kwargs, ModuleValue, Runtime, Value } from '../types.ts'
import { globPaths, hasWildcard } from '../text/path/glob.ts'
import { joinPath } from '../text/path/posix.ts'
import { globFilesOf, locate } from './support/pack-file.ts'

/** `glob`, over the files of the pack; results are sorted folder by folder. */
export const makeGlob = (): ModuleValue =>
  nativeModule('glob', {
    functions: {
      glob: (rt, args, kwargs) => ifKnown(findPaths(rt, args, kwargs), makeList),
    },
  })

const findPaths = (rt: Runtime, args: Value[], kwargs: Kwargs): string[] | undefined => {
  const pattern = pathOf(rt, argumentOf(args, kwargs, 0, 'pathname'))
  const folder = pathOf(rt, kwargs.get('root_dir') ?? '')
  const recursive = flagOf(rt, kwargs.get('recursive'), false)
  const includeHidden = flagOf(rt, kwargs.get('include_hidden'), false)
  if (pattern === undefined || folder === undefined) return undefined
  if (recursive === undefined || includeHidden === undefined) return undefined
  const found = findInPack(rt, joinPath(folder, pattern), { recursive, includeHidden })
  if (found === undefined || !rt.budget.allowItems(found.length)) return undefined
  const start = folder === '' ? 0 : joinPath(folder, '').length
  return pattern.startsWith('/') ? found : found.map((path) => path.slice(start))
}

/** The part before the first wildcard is the folder to start in, and must lie in the pack. */
const findInPack = (
  rt: Runtime,
  path: string,
  options: { recursive: boolean; includeHidden: boolean },
): string[] | undefined => {
  const parts = path.split('/')
  const first = parts.findIndex(hasWildcard)
  if (first < 0) return undefined
  const root = parts.slice(0, first).join('/') || (path.startsWith('/') ? '/' : '')
  if (locate(rt, root) === undefined) return undefined
  return globPaths(root, parts.slice(first).join('/'), globFilesOf(rt), options)
}
