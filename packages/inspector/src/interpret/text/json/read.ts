/** Builder of what a JSON text holds: values of the interpreter in the library. */
export interface JsonBuilder<V> {
  atom: (value: JsonAtom) => V
  list: (items: V[]) => V
  /** In the order of the text; a key may come twice. */
  object: (entries: [string, V][]) => V
}

/** CPython gives up near its recursion limit too, and whoever walks the result may do it by recursion. */
const MAX_DEPTH = 990

/**
 * `json.loads(text)`: ints are bigint, other numbers floats, NaN and Infinity are read. Undefined for what Python
 * rejects (a byte order mark among them), and for nesting beyond 990. Depth costs no stack.
 */
export const readJson = <V>(text: string, builder: JsonBuilder<V>): V | undefined => {
  const cursor: Cursor = { text, at: 0 }
  const frames: Frame<V>[] = []
  for (;;) {
    const opened = openOrRead(cursor, frames, builder)
    if (opened === 'malformed') return undefined
    if (opened === 'opened') continue
    const closed = close(cursor, frames, builder, opened.value)
    if (closed === 'malformed') return undefined
    if (closed === 'more') continue
    skipSpace(cursor)
    return cursor.at === text.length ? closed.value : undefined
  }
}

/** An open array or object; `key` is that of the value which comes next. */
type Frame<V> = { of: 'list'; items: V[] } | { of: 'object'; entries: [string, V][]; key: string }

/** Reads an atom or empty container, or opens one whose first value comes next. */
const openOrRead = <V>(
  cursor: Cursor,
  frames: Frame<V>[],
  builder: JsonBuilder<V>,
): { value: V } | 'opened' | 'malformed' => {
  skipSpace(cursor)
  const first = cursor.text.charAt(cursor.at)
  if (first !== '[' && first !== '{') {
    const atom = readJsonAtom(cursor)
    return atom === undefined ? 'malformed' : { value: builder.atom(atom) }
  }
  cursor.at += 1
  skipSpace(cursor)
  const isEmpty = cursor.text.charAt(cursor.at) === (first === '[' ? ']' : '}')
  if (isEmpty) {
    cursor.at += 1
    return { value: first === '[' ? builder.list([]) : builder.object([]) }
  }
  if (frames.length >= MAX_DEPTH) return 'malformed'
  const key = first === '[' ? '' : readKey(cursor)
  if (key === undefined) return 'malformed'
  frames.push(first === '[' ? { of: 'list', items: [] } : { of: 'object', entries: [], key })
  return 'opened'
}

/** Puts a finished value into what is open, and closes all that ends with it. */
const close = <V>(
  cursor: Cursor,
  frames: Frame<V>[],
  builder: JsonBuilder<V>,
  value: V,
): { value: V } | 'more' | 'malformed' => {
  let finished = value
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    put(frame, finished)
    skipSpace(cursor)
    const next = cursor.text.charAt(cursor.at)
    cursor.at += 1
    if (next === ',') return prepareNext(cursor, frame) ? 'more' : 'malformed'
    if (next !== (frame.of === 'list' ? ']' : '}')) return 'malformed'
    finished = frame.of === 'list' ? builder.list(frame.items) : builder.object(frame.entries)
    frames.pop()
  }
  return { value: finished }
}

const put = <V>(frame: Frame<V>, value: V): void => {
  if (frame.of === 'list') frame.items.push(value)
  else frame.entries.push([frame.key, value])
}

const prepareNext = <V>(cursor: Cursor, frame: Frame<V>): boolean => {
  if (frame.of === 'list') return true
  const key = readKey(cursor)
  if (key !== undefined) frame.key = key
  return key !== undefined
}

/** A key and the colon behind it. */
const readKey = (cursor: Cursor): string | undefined => {
  skipSpace(cursor)
  const key = readJsonText(cursor)
  skipSpace(cursor)
  const isKey = key !== undefined && cursor.text.charAt(cursor.at) === ':'
  cursor.at += 1
  return isKey ? key : undefined
}

/** Position of the reader, in UTF-16 units. */
interface Cursor {
  text: string
  at: number
}

export type JsonAtom = null | boolean | bigint | number | string

/** CPython rejects ints of more digits. */
const MAX_DIGITS = 4300
const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?/
const TEXT = /"[^"\\]*(?:\\.[^"\\]*)*"/sy
const WORDS: readonly (readonly [string, JsonAtom])[] = [
  ['null', null],
  ['true', true],
  ['false', false],
  ['NaN', NaN],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
]

/** Past blank, tab, line feed and carriage return. */
const skipSpace = (cursor: Cursor): void => {
  for (; ; cursor.at += 1) {
    const unit = cursor.text.charCodeAt(cursor.at)
    if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return
  }
}

/** A text, number or word; undefined if there is none. */
const readJsonAtom = (cursor: Cursor): JsonAtom | undefined => {
  if (cursor.text.charAt(cursor.at) === '"') return readJsonText(cursor)
  const word = WORDS.find(([name]) => cursor.text.startsWith(name, cursor.at))
  if (word === undefined) return readNumber(cursor)
  cursor.at += word[0].length
  return word[1]
}

/** Reads a quoted text as JSON.parse does, like CPython; undefined for any other, and for one that is not closed. */
const readJsonText = (cursor: Cursor): string | undefined => {
  const quoted = new RegExp(TEXT)
  quoted.lastIndex = cursor.at
  try {
    const found = quoted.exec(cursor.text)?.[0] ?? ''
    cursor.at += found.length
    return JSON.parse(found) as string
  } catch {
    return undefined
  }
}

const readNumber = (cursor: Cursor): bigint | number | undefined => {
  const number = new RegExp(NUMBER, 'y')
  number.lastIndex = cursor.at
  const match = number.exec(cursor.text)
  if (match === null) return undefined
  const [text, fraction, exponent] = match
  cursor.at += text.length
  if (fraction !== undefined || exponent !== undefined) return Number(text)
  return text.replace('-', '').length > MAX_DIGITS ? undefined : BigInt(text)
}
