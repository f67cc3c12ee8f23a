import { useSyncExternalStore } from 'react'

/** A value that components show as it changes. */
export const makeStore = <T>(first: T) => {
  let value = first
  const listeners = new Set<() => void>()
  const subscribe = (listener: () => void): (() => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  return {
    get: (): T => value,
    set: (next: T): void => {
      if (next === value) return
      value = next
      for (const listener of listeners) listener()
    },
    subscribe,
    /** Waits for a value. */
    until: async (isIt: (value: T) => boolean): Promise<void> => {
      while (!isIt(value))
        await new Promise<void>((resolve) => {
          const stop = subscribe(() => {
            stop()
            resolve()
          })
        })
    },
  }
}

type Store<T> = { get(): T; subscribe(listener: () => void): () => void }

export const useStore = <T>(store: Store<T>): T => useSyncExternalStore(store.subscribe, store.get)
