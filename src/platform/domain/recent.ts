/** Remembers values by key: of too many the one that was kept first goes. */
export const makeRecent = <Value>(max: number) => {
  const kept = new Map<string, Value>()
  return {
    find: (key: string): Value | undefined => kept.get(key),
    /** Unless another value has taken its place. */
    forget: (key: string, value: Value): void => {
      if (kept.get(key) === value) kept.delete(key)
    },
    keep: (key: string, value: Value): void => {
      kept.delete(key)
      kept.set(key, value)
      for (const oldest of kept.keys()) {
        if (kept.size <= max) break
        kept.delete(oldest)
      }
    },
  }
}
