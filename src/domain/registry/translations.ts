import { shown } from '../shared/errors.ts'

/** Members of a translation that are used. */
const USED: readonly string[] = ['name', 'description']

/** Most languages and members that one warning names. */
const NAMED_MAX = 5

/** Lists warnings about translations that are kept and used by nobody. */
export const translationWarnings = (body: Readonly<Record<string, unknown>>, at = ''): string[] => {
  const { translations } = body
  if (typeof translations !== 'object' || translations === null) return []
  const unused = Object.entries(translations).flatMap(([language, texts]) =>
    isLanguage(language)
      ? Object.keys(texts as object)
          .filter((member) => !USED.includes(member))
          .map((member) => `${shown(member)} of ${shown(language)}`)
      : [shown(language)],
  )
  if (unused.length === 0) return []
  const more = unused.length > NAMED_MAX ? ` and ${unused.length - NAMED_MAX} more` : ''
  return [
    `${at}/translations is stored, and only name and description of well-formed languages (BCP 47) such as "pt-BR" are used: not ${unused.slice(0, NAMED_MAX).join(', ')}${more}.`,
  ]
}

const isLanguage = (tag: string): boolean => {
  try {
    return Intl.getCanonicalLocales(tag).length === 1
  } catch {
    return false
  }
}
