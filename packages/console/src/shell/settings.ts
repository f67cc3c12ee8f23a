import { makeStore, useStore } from '../api/store.ts'

interface Settings {
  theme: 'system' | 'light' | 'dark'
  /** Tag of a language, or that of the browser: `system`. */
  language: string
  /** Keys that are one letter. */
  shortcuts: boolean
  /** Notes of the home page that were dismissed, by name and user: what they said then. */
  dismissed: Record<string, string>
}

/** Parts of a page that are used here; tests, which read texts without one, have none. */
interface Browser {
  localStorage: { getItem(key: string): string | null; setItem(key: string, value: string): void }
  document: { documentElement: { style: { colorScheme: string } } }
  location: { reload(): void }
}
const browser = globalThis as unknown as Browser

/** All that is in localStorage. */
const KEY = 'kiln.settings'

const read = (): Settings => {
  const fallback: Settings = { theme: 'system', language: 'system', shortcuts: true, dismissed: {} }
  try {
    return {
      ...fallback,
      ...(JSON.parse(browser.localStorage.getItem(KEY) ?? '{}') as Partial<Settings>),
    }
  } catch {
    return fallback
  }
}

const settings = makeStore(read())

export const useSettings = (): Settings => useStore(settings)

export const settingsNow = (): Settings => settings.get()

export const shortcutsAreOn = (): boolean => settings.get().shortcuts

export const changeSettings = (change: Partial<Settings>): void => {
  settings.set({ ...settings.get(), ...change })
  browser.localStorage.setItem(KEY, JSON.stringify(settings.get()))
  showTheme()
}

/** Texts are read once, when a page is loaded. */
export const changeLanguage = (language: string): void => {
  changeSettings({ language })
  browser.location.reload()
}

export const showTheme = (): void => {
  const { theme } = settings.get()
  browser.document.documentElement.style.colorScheme = theme === 'system' ? '' : theme
}
