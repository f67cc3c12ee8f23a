/** Reads one search parameter; a wrong one counts as absent. */
type Reader<T> = (value: unknown) => T | undefined

export const text: Reader<string> = (value) =>
  typeof value === 'string' && value !== '' && value.length <= 1000 ? value : undefined

export const texts: Reader<string[]> = (value) => {
  const items = [value].flat().filter((item) => text(item) !== undefined) as string[]
  return items.length === 0 ? undefined : items.slice(0, 50)
}

export const oneOf =
  <const Words extends readonly string[]>(...words: Words): Reader<Words[number]> =>
  (value) =>
    words.find((word) => word === value)

/** Some words that are known, with commas between. */
export const someOf =
  (isKnown: (word: string) => boolean): Reader<string> =>
  (value) => {
    const list = text(value)
    return list?.split(',').every(isKnown) ? list : undefined
  }

/** A day as `2026-01-31`, or a moment as ISO says it. */
export const time: Reader<string> = (value) =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value) && !Number.isNaN(Date.parse(value))
    ? value
    : undefined

/** A day as `2026-01-31`. */
export const day: Reader<string> = (value) => time(value)?.slice(0, 10)

type Read<Shape> = {
  [Name in keyof Shape]?: Shape[Name] extends Reader<infer T> ? T | undefined : never
}

/** Reads the search parameters of a page. The router keeps what is not in it, so a wrong one is there as undefined. */
export const search =
  <Shape extends Record<string, Reader<unknown>>>(shape: Shape) =>
  (raw: Record<string, unknown>): Read<Shape> =>
    Object.fromEntries(
      Object.entries(shape).map(([name, read]) => [name, read(raw[name])]),
    ) as Read<Shape>

/** `?tag=a&tag=b` as it is written everywhere: a name that comes twice is a list. */
export const parseSearch = (query: string): Record<string, string | string[]> => {
  const found: Record<string, string | string[]> = {}
  for (const [name, value] of new URLSearchParams(query)) {
    const before = found[name]
    found[name] = before === undefined ? value : [before, value].flat()
  }
  return found
}

export const writeSearch = (values: Record<string, unknown>): string => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values))
    for (const item of [value].flat())
      if (['string', 'number', 'boolean'].includes(typeof item) && item !== '')
        query.append(name, String(item))
  const written = query.toString()
  return written === '' ? '' : `?${written}`
}

/** Reader and writer of search parameters, for the router. */
export const SEARCH_FORMAT = { parseSearch, stringifySearch: writeSearch }
