import type { Pack } from '../../pack.ts'
import type { Module } from '../../python/ast.ts'
import { makePackModules } from './pack-modules.ts'
import { walkFile } from './source-file.ts'
import type { WalkContext, WalkedFile } from './source-file.ts'

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
