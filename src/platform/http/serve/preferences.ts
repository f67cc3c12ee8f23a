/** Reads Prefer (RFC 7240): the value of each preference by its name, in lower case. The first of a name counts. */
export const readPreferences = (
  header: string | readonly string[] | undefined,
): ReadonlyMap<string, string> => {
  if (header === undefined) return NONE
  const found = new Map<string, string>()
  for (const part of [header].flat().flatMap((text) => text.split(/[,;]/))) {
    const [, name = '', value = ''] = PREFERENCE.exec(part) ?? []
    if (name !== '' && !found.has(name.toLowerCase())) found.set(name.toLowerCase(), value)
  }
  return found
}

const NONE: ReadonlyMap<string, string> = new Map()

/** No preference of ours has parameters: what follows a semicolon counts as another one. */
const PREFERENCE = /^\s*([\w!#$%&'*+.^`|~-]+)\s*(?:=\s*"?([^"]*?)"?\s*)?$/

/** More is not waited for. */
const MAX_SECONDS = 60

/** Reads for how many seconds the caller prefers to wait, 60 at most; undefined where it does not, null of what is no number from 1 on. */
export const readWait = (preferences: ReadonlyMap<string, string>): number | null | undefined => {
  const wait = preferences.get('wait')
  if (wait === undefined) return undefined
  return /^\d+$/.test(wait) && Number(wait) > 0 ? Math.min(Number(wait), MAX_SECONDS) : null
}
