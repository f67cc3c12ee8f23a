/** A value of JSON whose objects are maps. */
export type Json = null | boolean | number | string | Json[] | JsonObject
export type JsonObject = ReadonlyMap<string, Json>

/** A string, and the colon behind a name. Where a string has no end it would look for one from each escaped quote. */
const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g

const mark = (whole: string, colon?: string) => (colon ? `"#${whole.slice(1)}` : whole)

/**
 * Reads JSON with all names in the order of the text: JSON.parse puts those that are whole numbers first, unless a mark
 * stands before them. Undefined for what is no JSON, or nests too deep.
 */
export const readJson = (text: string): Json | undefined => {
  try {
    JSON.parse(text)
    return unmark(JSON.parse(text.replaceAll(STRING, mark)))
  } catch {
    return undefined
  }
}

/** More than any form has, and few enough to be written again. */
const MAX_DEPTH = 200

const unmark = (value: unknown, depth = 0): Json => {
  if (depth > MAX_DEPTH) throw new RangeError('it nests too deep')
  if (Array.isArray(value)) return value.map((item) => unmark(item, depth + 1))
  if (typeof value !== 'object' || value === null) return value as Json
  return new Map(
    Object.entries(value).map(([name, member]) => [name.slice(1), unmark(member, depth + 1)]),
  )
}

export const isObject = (value: Json | undefined): value is JsonObject => value instanceof Map

/** A string as it is, any other value as JSON. */
export const writePlain = (value: Json): string =>
  typeof value === 'string'
    ? value
    : JSON.stringify(value, (_name, one: Json) => (isObject(one) ? Object.fromEntries(one) : one))
