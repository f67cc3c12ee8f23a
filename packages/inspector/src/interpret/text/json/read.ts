/** Builder of what a JSON text holds: values of the interpreter in the library. */
export interface JsonBuilder<V> {
  atom: (value: JsonAtom) => V
  list: (items: V[]) => V
  /** In the order of the text; a key may come twice. */
  object: (entries: [string, V][]) => V
}

export type JsonAtom = null | boolean | bigint | number | string

/** CPython gives up near its recursion limit too. */
const MAX_DEPTH = 990
/** CPython rejects ints of more digits. */
const MAX_DIGITS = 4300

const TOKEN =
  /[ \t\n\r]*(?:("[^"\\]*(?:\\.[^"\\]*)*")|(-?(?:0|[1-9]\d*)((?:\.\d+)?(?:[eE][-+]?\d+)?))|(null|true|false|NaN|-?Infinity)|([[\]{},:]))/sy

const WORDS = new Map<string, JsonAtom>([
  ['null', null],
  ['true', true],
  ['false', false],
  ['NaN', NaN],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
])

/** Thrown for what is no JSON, and caught by `readJson`. */
class NotJson extends Error {}

/**
 * `json.loads(text)`: ints are bigint, other numbers floats, NaN and Infinity are read. Undefined for what Python
 * rejects (a byte order mark among them), and for nesting beyond 990.
 */
export const readJson = <V>(text: string, builder: JsonBuilder<V>): V | undefined => {
  const cursor: Cursor<V> = { text, at: 0, builder }
  try {
    const value = readValue(cursor, next(cursor), 0)
    return /^[ \t\n\r]*$/.test(text.slice(cursor.at)) ? value : undefined
  } catch (error) {
    if (error instanceof NotJson) return undefined
    throw error
  }
}

interface Cursor<V> {
  text: string
  /** In UTF-16 units. */
  at: number
  builder: JsonBuilder<V>
}

/** A mark such as `[`, or an atom. */
type Token = { mark: string } | { atom: JsonAtom }

const next = <V>(cursor: Cursor<V>): Token => {
  TOKEN.lastIndex = cursor.at
  const match = TOKEN.exec(cursor.text)
  if (match === null) throw new NotJson()
  cursor.at = TOKEN.lastIndex
  const [, quoted, number, fraction, word, mark] = match
  if (mark !== undefined) return { mark }
  if (word !== undefined) return { atom: WORDS.get(word) ?? null }
  if (quoted !== undefined) return { atom: readText(quoted) }
  if (fraction !== '' || number === undefined) return { atom: Number(number) }
  if (number.length > MAX_DIGITS + (number.startsWith('-') ? 1 : 0)) throw new NotJson()
  return { atom: BigInt(number) }
}

/** JSON.parse rejects the same texts as CPython. */
const readText = (quoted: string): string => {
  try {
    return JSON.parse(quoted) as string
  } catch {
    throw new NotJson()
  }
}

const readValue = <V>(cursor: Cursor<V>, token: Token, depth: number): V => {
  if ('atom' in token) return cursor.builder.atom(token.atom)
  if (depth > MAX_DEPTH) throw new NotJson()
  if (token.mark === '[') {
    const items: V[] = []
    readItems(cursor, ']', (first) => items.push(readValue(cursor, first, depth + 1)))
    return cursor.builder.list(items)
  }
  if (token.mark !== '{') throw new NotJson()
  const entries: [string, V][] = []
  readItems(cursor, '}', (key) => {
    const colon = next(cursor)
    if (!('atom' in key) || typeof key.atom !== 'string') throw new NotJson()
    if (!('mark' in colon) || colon.mark !== ':') throw new NotJson()
    entries.push([key.atom, readValue(cursor, next(cursor), depth + 1)])
  })
  return cursor.builder.object(entries)
}

/** Reads what stands between commas, each from its first token on, up to the mark that ends it. */
const readItems = <V>(cursor: Cursor<V>, end: string, read: (first: Token) => void): void => {
  let token = next(cursor)
  if ('mark' in token && token.mark === end) return
  for (;;) {
    read(token)
    const after = next(cursor)
    if ('mark' in after && after.mark === end) return
    if (!('mark' in after) || after.mark !== ',') throw new NotJson()
    token = next(cursor)
  }
}
