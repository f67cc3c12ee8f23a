import { countOf, isObject, payloadOf, textOf, textsOf } from '../values/read-value.ts'
import { flagOf } from '../operate/arguments.ts'
import { call } from '../operate/call.ts'
import { dictEntries } from '../values/dict.ts'
import type { DictValue, Kwargs, NativeCall, ObjectValue, Runtime, Value } from '../types.ts'
import { writeJsonFloat, writeJsonText } from '../text/json/write.ts'
import { reprInt } from '../text/repr.ts'
import { compareText } from '../text/string/code-points.ts'

/** `json.dumps` with indent, separators, sort_keys, ensure_ascii and default; unknown if any value inside is. */
export const dumps: NativeCall = (rt, [value], kwargs) => {
  const style = styleOf(rt, kwargs)
  const writer = { rt, style, length: 0 }
  return style === undefined || value === undefined
    ? undefined
    : write({ ...writer, style }, value, 0)
}

interface Style {
  /** Text of one level; undefined writes everything in one line. */
  indent: string | undefined
  comma: string
  colon: string
  ensureAscii: boolean
  sortKeys: boolean
  fallback: Value | undefined
}

interface Writer {
  rt: Runtime
  style: Style
  /** UTF-16 units written so far. */
  length: number
}

/** Deeper values hold themselves, which Python rejects too. */
const MAX_DEPTH = 100

const styleOf = (rt: Runtime, kwargs: Kwargs): Style | undefined => {
  const indent = indentOf(kwargs.get('indent') ?? null)
  const ensureAscii = flagOf(rt, kwargs.get('ensure_ascii'), true)
  const sortKeys = flagOf(rt, kwargs.get('sort_keys'), false)
  const given = kwargs.get('separators') ?? null
  const separators = given === null ? [indent === undefined ? ', ' : ',', ': '] : textsOf(given)
  const [comma, colon] = separators ?? []
  if (ensureAscii === undefined || sortKeys === undefined) return undefined
  if (comma === undefined || colon === undefined) return undefined
  const fallback = kwargs.get('default') ?? undefined
  return { indent, comma, colon, ensureAscii, sortKeys, fallback }
}

const indentOf = (value: Value): string | undefined => {
  const width = countOf(value)
  return width === undefined ? textOf(value) : ' '.repeat(Math.max(0, Math.min(width, 100)))
}

const write = (writer: Writer, value: Value, depth: number): string | undefined => {
  const text = writeAtom(writer, value) ?? writeContainer(writer, value, depth)
  writer.length += text?.length ?? 0
  return writer.rt.budget.allowString(writer.length) ? text : undefined
}

const writeAtom = ({ style }: Writer, value: Value): string | undefined => {
  const content = payloadOf(value)
  switch (typeof content) {
    case 'string':
      return writeJsonText(content, style.ensureAscii)
    case 'boolean':
      return content ? 'true' : 'false'
    case 'bigint':
      return reprInt(content)
    case 'number':
      return writeJsonFloat(content)
    default:
      return content === null ? 'null' : undefined
  }
}

const writeContainer = (writer: Writer, value: Value, depth: number): string | undefined => {
  const content = payloadOf(value)
  if (depth >= MAX_DEPTH || !isObject(content)) return undefined
  writer.rt.budget.step(sizeOf(content))
  if (content.kind === 'dict') return writeDict(writer, content, depth)
  if (content.kind === 'list' || content.kind === 'tuple') {
    const items = content.rest ? [undefined] : content.items
    const texts = items.map((item) =>
      item === undefined ? undefined : write(writer, item, depth + 1),
    )
    return enclose(writer, '[', texts, ']', depth)
  }
  const { fallback } = writer.style
  if (fallback === undefined || content.kind === 'unknown') return undefined
  return write(writer, call(writer.rt, fallback, [value]), depth + 1)
}

/** One step and one for each sixteen items. */
const sizeOf = (value: ObjectValue): number => {
  if (value.kind === 'dict') return 1 + (value.values.size >> 4)
  return value.kind === 'list' || value.kind === 'tuple' ? 1 + (value.items.length >> 4) : 1
}

const writeDict = (writer: Writer, dict: DictValue, depth: number): string | undefined => {
  const { style } = writer
  const entries = dictEntries(dict).map(([key, value]) => ({ key: keyText(writer, key), value }))
  if (dict.rest) return undefined
  if (style.sortKeys) entries.sort((a, b) => compareText(a.key ?? '', b.key ?? ''))
  const texts = entries.map(({ key, value }) => {
    const text = key === undefined ? undefined : write(writer, value, depth + 1)
    if (key === undefined || text === undefined) return undefined
    return writeJsonText(key, style.ensureAscii) + style.colon + text
  })
  return enclose(writer, '{', texts, '}', depth)
}

/** Keys that are not text become it: `1`, `1.5`, `true`, `null`. */
const keyText = (writer: Writer, key: Value): string | undefined =>
  textOf(key) ?? writeAtom(writer, key)

const enclose = (
  { style }: Writer,
  open: string,
  texts: readonly (string | undefined)[],
  close: string,
  depth: number,
): string | undefined => {
  if (!texts.every((text) => text !== undefined)) return undefined
  if (texts.length === 0) return open + close
  if (style.indent === undefined) return open + texts.join(style.comma) + close
  const line = `\n${style.indent.repeat(depth)}`
  const inner = line + style.indent
  return open + inner + texts.join(style.comma + inner) + line + close
}
