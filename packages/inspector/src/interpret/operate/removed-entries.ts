import { dictDelete, dictKey, dictSet } from '../values/dict.ts'
import type { Runtime } from '../runtime.ts'
import type { DictValue, HashKey, Value } from '../values/value.ts'

/** Entries that were taken out of dicts since an undecided branch began. */
export type RemovedEntries = Map<DictValue, Removed>

/** Entries that were put into dicts since an undecided branch began, also by what it calls. */
export type AddedEntries = Map<DictValue, Set<HashKey>>

interface Removed {
  /** Hash keys of the dict before the first removal. */
  order: HashKey[]
  entries: Map<HashKey, { key: Value; value: Value }>
}

/**
 * Takes an entry out of a dict; true if it was there. In an undecided branch it is gone until the branch ends: the
 * other way keeps it, and what may be there counts.
 */
export function removeEntry(rt: Runtime, dict: DictValue, hash: HashKey): boolean {
  recordRemoved(rt.state.removed, dict, hash)
  return dictDelete(dict, hash)
}

/** The same for all entries. */
export function removeAllEntries(rt: Runtime, dict: DictValue): void {
  for (const hash of dict.values.keys()) removeEntry(rt, dict, hash)
  if (!rt.state.removed) dict.rest = false
}

function recordRemoved(removed: RemovedEntries | undefined, dict: DictValue, hash: HashKey): void {
  const value = dict.values.get(hash)
  if (!removed || value === undefined) return
  const known = removed.get(dict) ?? { order: [...dict.values.keys()], entries: new Map() }
  removed.set(dict, known)
  if (!known.entries.has(hash)) known.entries.set(hash, { key: dictKey(dict, hash), value })
}

/** Puts entries back where they stood, but for those that were set again. */
export function putBack(removed: RemovedEntries): void {
  for (const [dict, { order, entries }] of removed) {
    const left = new Map(dict.values)
    dict.values.clear()
    for (const hash of order) {
      const gone = entries.get(hash)
      const value = left.get(hash)
      if (value !== undefined) dict.values.set(hash, value)
      else if (gone) dictSet(dict, hash, gone.key, gone.value)
    }
    for (const [hash, value] of left) dict.values.set(hash, value)
  }
}
