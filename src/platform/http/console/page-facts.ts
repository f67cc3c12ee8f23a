import escape from 'escape-html'

/** Words of a page for those who show a link to it, and run no script. */
export interface PageFacts {
  title: string
  description?: string | undefined
}

/** Finds the facts of a page by its path below /console; undefined: it has none of its own. */
export type DescribePage = (path: string) => Promise<PageFacts | undefined>

const DESCRIPTION_MAX = 200

/** Writes the facts of a page in place of those that the file has. */
export const writeFacts = (html: string, { title, description }: PageFacts): string => {
  const words = description?.replaceAll(/\s+/g, ' ').trim()
  const titled = setMeta(html, 'og:title', title).replace(
    /<title>[^<]*/,
    () => `<title>${escape(title)} · Kiln`,
  )
  if (!words) return titled
  const short = words.length > DESCRIPTION_MAX ? `${words.slice(0, DESCRIPTION_MAX - 2)} …` : words
  return setMeta(setMeta(titled, 'og:description', short), 'description', short)
}

const setMeta = (html: string, name: string, content: string): string =>
  html.replace(
    new RegExp(String.raw`(<meta\s+(?:name|property)="${name}"\s+content=")[^"]*`),
    (_all, before: string) => before + escape(content),
  )
