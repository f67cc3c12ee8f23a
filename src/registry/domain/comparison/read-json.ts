/** A value of JSON whose objects are maps. */
export type Json = null | boolean | number | string | Json[] | JsonObject
export type JsonObject = ReadonlyMap<string, Json>

/** A string, and the colon behind a name. Where a string has no end it would look for one from each escaped quote. */
const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g

/**
 * Reads JSON with all names in the order of the text: JSON.parse puts whole numbers first, unless a mark stands before
 * them. Undefined for what is no JSON, or nests too deep.
 */
export const readJson = (text: string): Json | undefined => {
  try {
    JSON.parse(text)
    return unmark(
      JSON.parse(
        text.replaceAll(STRING, (whole, colon?: string) => (colon ? `"#${whole.slice(1)}` : whole)),
      ),
    )
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

/** Compact JSON. */
export const writeJson = (value: Json): string => {
  if (Array.isArray(value)) return `[${value.map(writeJson).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const members = [...value].map(([name, member]) => `${JSON.stringify(name)}:${writeJson(member)}`)
  return `{${members.join(',')}}`
}

/** A value as a text: a string as it is, else its JSON. */
export const plain = (value: Json): string => (typeof value === 'string' ? value : writeJson(value))
