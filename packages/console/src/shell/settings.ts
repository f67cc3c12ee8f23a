import { makeStore, useStore } from '../api/store.ts'

interface Settings {
  theme: 'system' | 'light' | 'dark'
  /** Keys that are one letter. */
  shortcuts: boolean
  /** Notes of the home page that were dismissed, by name and user: what they said then. */
  dismissed: Record<string, string>
}

/** All that is in localStorage. */
const KEY = 'kiln.settings'

const read = (): Settings => {
  const fallback: Settings = { theme: 'system', shortcuts: true, dismissed: {} }
  try {
    return { ...fallback, ...(JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Settings>) }
  } catch {
    return fallback
  }
}

const settings = makeStore(read())

export const useSettings = (): Settings => useStore(settings)

export const shortcutsAreOn = (): boolean => settings.get().shortcuts

export const changeSettings = (change: Partial<Settings>): void => {
  settings.set({ ...settings.get(), ...change })
  localStorage.setItem(KEY, JSON.stringify(settings.get()))
  showTheme()
}

export const showTheme = (): void => {
  const { theme } = settings.get()
  document.documentElement.style.colorScheme = theme === 'system' ? '' : theme
}
