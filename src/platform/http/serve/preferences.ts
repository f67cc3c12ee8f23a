/** Reads Prefer (RFC 7240): the value of each preference by its name, in lower case. The first of a name counts. */
export const readPreferences = (
  header: string | readonly string[] | undefined,
): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  for (const part of [header ?? []].flat().flatMap((text) => text.split(/[,;]/))) {
    const [, name = '', value = ''] = PREFERENCE.exec(part) ?? []
    if (name !== '' && !found.has(name.toLowerCase())) found.set(name.toLowerCase(), value)
  }
  return found
}

/** No preference of ours has parameters: what follows a semicolon counts as another one. */
const PREFERENCE = /^\s*([\w!#$%&'*+.^`|~-]+)\s*(?:=\s*"?([^"]*?)"?\s*)?$/
