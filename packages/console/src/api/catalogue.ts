/** Reads the texts of a language by the English ones; none of English, nor while the service is away: then the page is English. */
export const readCatalogue = async (
  language: string,
): Promise<Readonly<Record<string, string>>> => {
  if (language === 'en') return {}
  const address = new URL(`../words/${language}.json`, import.meta.url)
  const response = await fetch(address).catch(() => undefined)
  return response?.ok ? ((await response.json()) as Record<string, string>) : {}
}
