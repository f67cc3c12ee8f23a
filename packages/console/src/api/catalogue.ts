/** The page is drawn once its texts are there. */
const PATIENCE_MS = 5000

/** Reads the texts of a language by the English ones; none of English, nor while the service is away: then the page is English. */
export const readCatalogue = async (
  language: string,
): Promise<Readonly<Record<string, string>>> => {
  if (language === 'en') return {}
  const address = new URL(`../words/${language}.json`, import.meta.url)
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(PATIENCE_MS) })
    return response.ok ? ((await response.json()) as Record<string, string>) : {}
  } catch {
    return {}
  }
}
