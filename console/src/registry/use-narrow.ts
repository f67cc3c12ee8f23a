import { useSyncExternalStore } from 'react'

const narrow = window.matchMedia('(max-width: 767px)')

const subscribe = (listener: () => void): (() => void) => {
  narrow.addEventListener('change', listener)
  return () => narrow.removeEventListener('change', listener)
}

/** Whether the page is as wide as a phone, for what CSS cannot size. */
export const useNarrow = (): boolean => useSyncExternalStore(subscribe, () => narrow.matches)
