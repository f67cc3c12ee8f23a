import { readJsonAtom, readJsonText, skipSpace } from './scan.ts'
import type { Cursor, JsonAtom } from './scan.ts'

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
