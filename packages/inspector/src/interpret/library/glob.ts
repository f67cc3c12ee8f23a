import { argumentOf, flagOf, pathOf } from '../operate/arguments.ts'
import { ifKnown, makeItemsIterator, makeList } from '../values/make-value.ts'
import { functionsOf, nativeModule } from '../values/native.ts'
import type { Kwargs, ModuleValue, NativeCall, Runtime, Value } from '../types.ts'
import { escapeWildcard, globPaths, hasWildcard, matchWildcard } from '../text/path/glob.ts'
import { joinPath } from '../text/path/posix.ts'
import { exists, globFilesOf, isFolder, locate } from './support/pack-file.ts'
import { readItems } from '../operate/iterate.ts'

/** `glob`, over the files of the pack; results are sorted folder by folder. */
export const makeGlob = (): ModuleValue =>
  nativeModule(
    'glob',
    functionsOf('glob', {
      glob: (rt, args, kwargs) => ifKnown(findPaths(rt, args, kwargs), makeList),
      iglob: (rt, args, kwargs) =>
        ifKnown(findPaths(rt, args, kwargs), (paths) => makeItemsIterator('generator', paths)),
      escape: (rt, [path]) => ifKnown(pathOf(rt, path), escapeWildcard),
      has_magic: (rt, [path]) => ifKnown(pathOf(rt, path), hasWildcard),
    }),
  )

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
  if (first < 0) {
    const there = path.endsWith('/') ? isFolder(rt, path) : exists(rt, path)
    return there === undefined ? undefined : there ? [path] : []
  }
  const root = parts.slice(0, first).join('/') || (path.startsWith('/') ? '/' : '')
  if (locate(rt, root) === undefined) return undefined
  return globPaths(root, parts.slice(first).join('/'), globFilesOf(rt), options)
}

/** `fnmatch`: on Linux names keep their case. */
export const makeFnmatch = (): ModuleValue =>
  nativeModule('fnmatch', functionsOf('fnmatch', { fnmatch, fnmatchcase: fnmatch, filter }))

const match = (rt: Runtime, text: string, wildcard: string): boolean | undefined => {
  rt.budget.step((text.length * wildcard.length) >> 8)
  return matchWildcard(text, wildcard)
}

const fnmatch: NativeCall = (rt, [name, pattern]) => {
  const [text, wildcard] = [pathOf(rt, name), pathOf(rt, pattern)]
  if (text === undefined || wildcard === undefined) return undefined
  return match(rt, text, wildcard)
}

/** A name that can't be decided is kept, and more may follow. */
const filter: NativeCall = (rt, [names, pattern]) => {
  const wildcard = pathOf(rt, pattern)
  if (names === undefined || wildcard === undefined) return undefined
  const { items, rest } = readItems(rt, names)
  const kept = items.filter((item) => {
    const text = pathOf(rt, item)
    return text === undefined || match(rt, text, wildcard) !== false
  })
  return makeList(kept, rest)
}
