import { shown } from '../../platform/domain/errors.ts'

interface Translated {
  name: string
  description: string
  translations?: Record<string, Record<string, string>>
}

/**
 * Translates name and description of a node into the first language of a reader that it has (Lookup of RFC 4647). Its own
 * texts are taken for English, as nearly all are.
 */
export const inLanguage = <Node extends Translated>(
  node: Node,
  ranges: readonly string[],
): { node: Node; language?: string } => {
  const known = Object.entries(node.translations ?? {}).filter(([tag]) => isLanguage(tag))
  for (const range of ranges)
    for (let tag = range; tag; tag = shorten(tag)) {
      const [language, { name, description } = {}] =
        known.find(([one]) => one.toLowerCase() === tag) ?? []
      if (language !== undefined && (name || description)) {
        const texts = { name: name || node.name, description: description || node.description }
        return { node: { ...node, ...texts }, language }
      }
      if (tag === 'en') return { node }
    }
  return { node }
}

/** Takes the last subtag away, and with it a single letter before it. */
const shorten = (tag: string): string => tag.replace(/(?:-[a-z\d])?-[^-]+$|^[^-]+$/, '')

/** The same of the JSON of a node, which is parsed only where it has translations. */
export const textInLanguage = (
  text: string,
  ranges: readonly string[],
): { text: string; language?: string } => {
  if (ranges.length === 0 || !text.includes('"translations"')) return { text }
  const { node, language } = inLanguage(JSON.parse(text) as Translated, ranges)
  return language === undefined ? { text } : { text: JSON.stringify(node), language }
}

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
