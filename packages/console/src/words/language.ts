import { settingsNow } from '../shell/settings.ts'

/** Languages of the console by their tags, each by its own name. The texts of all but English are in a file beside this one. */
export const LANGUAGES = { en: 'English', de: 'Deutsch', 'zh-CN': '简体中文' } as const
export type Language = keyof typeof LANGUAGES

const isLike = (tag: string, other: string): boolean => tag.split('-')[0] === other.split('-')[0]

/** False of what a system without a locale calls its language, as `en-US@posix`. */
const isTag = (tag: string): boolean => {
  try {
    return Intl.getCanonicalLocales(tag).length > 0
  } catch {
    return false
  }
}

/** The first language that is wanted and there is, `de` for `de-AT`; English where there is none. */
export const chooseLanguage = (wanted: readonly string[]): Language => {
  const known = Object.keys(LANGUAGES) as Language[]
  return wanted.flatMap((tag) => known.find((one) => isLike(one, tag)) ?? [])[0] ?? 'en'
}

// Tests and tools read texts without a page: in English, wherever they run.
const page = globalThis as unknown as { document?: object; navigator: { languages: string[] } }
const ofBrowser = page.document === undefined ? ['en-US'] : page.navigator.languages.filter(isTag)
const { language: chosen } = settingsNow()

/** Language that its user has chosen; undefined: that of the browser. */
export const chosenLanguage = chosen === 'system' ? undefined : chooseLanguage([chosen])

/** Language of the page, until it is loaded again. */
export const language = chosenLanguage ?? chooseLanguage(ofBrowser)

/** Locale of dates and numbers: that of the browser, which has a country, where it is of the language. */
export const locale = ofBrowser.find((tag) => isLike(tag, language)) ?? language

// Making one takes longer than drawing a row.
const NUMBER = new Intl.NumberFormat(locale)
const ONE_PLACE = new Intl.NumberFormat(locale, {
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
})
const CLOCK = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' })
const ANY = new Intl.ListFormat(locale, { type: 'disjunction' })
const ALL = new Intl.ListFormat(locale)

/** `5,000`. */
export const showNumber = (count: number): string => NUMBER.format(count)

/** `3.0`. */
export const showOnePlace = (value: number): string => ONE_PLACE.format(value)

/** Time of day with its seconds. */
export const showClock = (at: string | number): string => CLOCK.format(new Date(at))

/** `a, b, or c`. */
export const partsOfAny = (words: readonly string[]) => ANY.formatToParts(words)

/** `a, b, and c`. */
export const joinAll = (words: readonly string[]): string => ALL.format(words)

/** A label within a sentence; nouns of other languages keep their case. */
export const inSentence = (label: string): string =>
  language === 'en' ? label.toLowerCase() : label

export const DATE = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' })
export const DATE_TIME = new Intl.DateTimeFormat(locale, {
  dateStyle: 'medium',
  timeStyle: 'short',
})
export const FULL_TIME = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'long' })
