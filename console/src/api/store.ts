import { useSyncExternalStore } from 'react'

/** A value that components show as it changes. */
export interface Store<T> {
  get(): T
  set(value: T): void
  subscribe(listener: () => void): () => void
  /** Waits for a value. */
  until(isIt: (value: T) => boolean): Promise<void>
}

export const makeStore = <T>(first: T): Store<T> => {
  let value = first
  const listeners = new Set<() => void>()
  const subscribe = (listener: () => void): (() => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  return {
    get: () => value,
    set: (next) => {
      if (next === value) return
      value = next
      for (const listener of listeners) listener()
    },
    subscribe,
    until: (isIt) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!isIt(value)) return
          stop()
          resolve()
        }
        const stop = subscribe(look)
        look()
      }),
  }
}

export const useStore = <T>(store: Store<T>): T => useSyncExternalStore(store.subscribe, store.get)
