import type { HashKey, Runtime, Value } from '../types.ts'
import { mergeValues } from '../values/merge-values.ts'

type Names = Map<HashKey, Value>

/**
 * Entries, attributes and global names that were set since an undecided branch began, also by what it calls, with what
 * was there before and, once it has ended, what it leaves.
 */
export type Written = Map<
  Names,
  Map<HashKey, { before: Value | undefined; now?: Value | undefined }>
>

/** Before a value is set under a key. What is replaced is one of several after the branch. */
export function recordWriting(
  { state: { written } }: Runtime,
  names: Names,
  key: HashKey,
  before = names.get(key),
): void {
  if (!written) return
  const keys = written.get(names) ?? new Map()
  written.set(names, keys)
  if (!keys.has(key)) keys.set(key, { before })
}

/** Puts back what a branch has replaced: the next one begins with that. */
export function takeBack(written: Written): void {
  for (const [names, keys] of written)
    for (const [key, entry] of keys) {
      entry.now = names.get(key)
      if (entry.before !== undefined) names.set(key, entry.before)
    }
}

/** Merges what several branches leave. */
export function mergeWritten(rt: Runtime, ways: readonly Written[]): void {
  for (const [names, keys] of ways.flatMap((way) => [...way]))
    for (const [key, { before }] of keys) {
      recordWriting(rt, names, key, before)
      const left = ways.map((way) => way.get(names)?.get(key)?.now ?? names.get(key))
      const merged = mergeValues(left)
      if (merged !== undefined) names.set(key, merged)
    }
}
