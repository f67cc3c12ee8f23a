type Texts = { name: string; description: string }
type Translated = Texts & { translations?: Record<string, Record<string, string>> }

/** Name and description in the first language of the reader that a node has; its own where there is none. */
export const inLanguage = (node: Translated, languages: readonly string[]): Texts => {
  const { name, description, translations = {} } = node
  const byTag = new Map(
    Object.entries(translations).map(([tag, texts]) => [tag.toLowerCase(), texts]),
  )
  for (const language of languages)
    for (let tag = language.toLowerCase(); tag; tag = tag.replace(/(^|-)[^-]*$/, '')) {
      const texts = byTag.get(tag)
      if (texts)
        return { name: texts['name'] || name, description: texts['description'] || description }
      // The node's own texts are taken for English, as nearly all are.
      if (tag === 'en') return { name, description }
    }
  return { name, description }
}
