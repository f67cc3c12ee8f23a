import { normalName, type Pack } from '../../pack.ts'
import type { Module } from '../../python/ast.ts'
import { walkFile, type WalkContext, type WalkedFile } from './source-file.ts'
import type { PackModules, Scope } from './scope.ts'

export interface WalkedFiles {
  /** The file of this path with its names bound; undefined if it can't be parsed. Throws what the parser throws. */
  get(path: string): WalkedFile | undefined
  /** True when imports led to more files than may be read. */
  isSpent(): boolean
}

/** Files of a pack, each walked when the scan or an import first needs it, and kept for the next one that does. */
export const makeWalkedFiles = (
  pack: Pack,
  parse: (path: string) => Module | undefined,
): WalkedFiles => {
  const sizes = new Map(pack.entries.map(({ path, text }) => [path, text?.length]))
  const known = new Map<string, WalkedFile | undefined>()
  let [kept, imported, spent] = [0, 0, false]
  const get = (path: string): WalkedFile | undefined => {
    if (known.has(path)) return known.get(path)
    const size = sizes.get(path)
    if (size === undefined) return undefined
    if (kept + size > KEPT_BYTES) {
      known.clear()
      kept = 0
    }
    kept += size
    const module = parse(path)
    const file = module && walkFile(path, module, context)
    known.set(path, file)
    return file
  }
  const getImported = (path: string): WalkedFile | undefined => {
    if (!known.has(path)) imported += sizes.get(path) ?? 0
    if (imported > IMPORTED_BYTES) spent = true
    try {
      return spent ? known.get(path) : get(path)
    } catch {
      // Its own turn reports it.
      return undefined
    }
  }
  const context: WalkContext = {
    scopes: 0,
    modules: makePackModules(pack, (path) => getImported(path)?.top),
  }
  return { get, isSpent: () => spent }
}

/** Bytes of source whose bound names are in memory at once. The largest of 80 packs has 5.6 MB. */
const KEPT_BYTES = 8 * 2 ** 20

/** Bytes of source that is read because of an import before its turn or again, in all. */
const IMPORTED_BYTES = 8 * KEPT_BYTES

/**
 * The modules of a pack by name. `read` gives the scope of a file. A name is looked for beside the file that imports it, at
 * the pack's root, below the pack's own name, and at last anywhere.
 */
const makePackModules = (
  { root, entries, ownNames }: Pick<Pack, 'root' | 'entries' | 'ownNames'>,
  read: (path: string) => Scope | undefined,
): PackModules => {
  const paths = entries.map(({ path }) => path).filter((path) => /\.py$/i.test(path))
  const files = new Map(paths.map((path) => [path.toLowerCase(), path]))
  const byName = new Map<string, string[]>()
  for (const path of paths)
    byName.set(moduleName(path), [...(byName.get(moduleName(path)) ?? []), path])
  const readAll = (found: string[]): Scope[] =>
    found.slice(0, MAX_MODULES).flatMap((path) => read(path) ?? [])
  const among = (stems: string[]): string[] =>
    stems
      .flatMap((stem) => [`${stem}/__init__.py`, `${stem}.py`])
      .flatMap(
        (path) => files.get(path.replaceAll('//', '/').replace(/^\//, '').toLowerCase()) ?? [],
      )
  const anywhere = (end: string): string[] =>
    (byName.get(end.split('/').at(-1) ?? '') ?? []).filter((path) => endsWith(path, end))
  const findAbsolute = (steps: string[], from: string): string[] => {
    const rest = stepsBelow(steps, ownNames)
    const near = among([
      [...folderOf(from, 1), ...steps].join('/'),
      root + steps.join('/'),
      ...(rest ? [root + rest.join('/')] : []),
    ])
    return near.length > 0 ? near : anywhere(steps.join('/'))
  }
  return {
    find: (name, from) => {
      const level = /^\.*/.exec(name)?.[0].length ?? 0
      const steps = name.slice(level).split('.').filter(Boolean)
      if (level > 0) return readAll(among([[...folderOf(from, level), ...steps].join('/')]))
      return steps.length > 0 ? readAll(findAbsolute(steps, from)) : []
    },
    findFile: (path, from) => {
      const end = path
        .replace(/^.*\0/, '')
        .replaceAll(/[\\/]+/g, '/')
        .replace(/^(?:\.?\/)+/, '')
      const near = files.get([...folderOf(from, 1), end].join('/').toLowerCase())
      return readAll(near === undefined ? anywhere(end.replace(/\.py$/i, '')) : [near])
    },
  }
}

/** A name that fits more files than these means nothing. */
const MAX_MODULES = 4

const folderOf = (path: string, level: number): string[] => path.split('/').slice(0, -level)

/** The name by which a file is imported, without its packages. */
const moduleName = (path: string): string =>
  path
    .replace(/(?:\/__init__)?\.py$/i, '')
    .split('/')
    .at(-1) ?? ''

const endsWith = (path: string, end: string): boolean =>
  `/${path.replace(/(?:\/__init__)?\.py$/i, '')}`.endsWith(`/${end}`)

/** `custom_nodes.demo_pack.helper` and `demo_pack.helper`: what follows the pack's own name. */
const stepsBelow = (steps: string[], ownNames: readonly string[]): string[] | undefined => {
  const at = steps.findIndex((step) => ownNames.includes(normalName(step)))
  return at === 0 || (at === 1 && steps[0] === 'custom_nodes') ? steps.slice(at + 1) : undefined
}
