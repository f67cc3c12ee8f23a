import type * as ast from '../ast.ts'
import { BROKEN, exprAt, find, has, nameAt, values } from '../children.ts'
import type { Builders, Children } from '../children.ts'
import { addText, findLiteralHead, unescape, unescapeBraced } from '../string-literal.ts'
import type { LiteralHead } from '../string-literal.ts'

type Literal = ast.Constant | ast.Bytes | ast.JoinedStr

/** A field of an f-string and where it stands in the source. */
interface Field {
  start: number
  end: number
  /** The source text that `{value=}` shows before the value. */
  label: string
  value: ast.FormattedValue
}

/** `:spec` within a field; its texts still have their escapes, as only the string knows whether it is raw. */
interface Spec {
  start: number
  end: number
  joined: ast.JoinedStr
}

export interface Conversion {
  start: number
  letter: string
}

/** A literal without fields, from its source; `end` is after its closing quotes. */
export const plainString = (
  text: string,
  head: LiteralHead | undefined,
  end: number,
  line: number,
): Literal => {
  if (!head || head.quote === '`') return { kind: 'Constant', line, value: undefined }
  const value = unescape(text.slice(head.start, end - head.quote.length), head)
  if (head.bytes) return { kind: 'Bytes', line, value: Buffer.from(value, 'latin1') }
  return { kind: 'Constant', line, value }
}

/** Texts and fields in turn from `start` to the end of the last field, which is returned. */
const addFields = (
  joined: ast.JoinedStr,
  fields: Field[],
  start: number,
  read: (from: number, to: number) => string,
): number => {
  let end = start
  for (const field of fields) {
    addText(joined.values, read(end, field.start) + field.label)
    joined.values.push(field.value)
    end = field.end
  }
  return end
}

const unescapeSpec = (value: string | ast.FormattedValue, head: LiteralHead): void => {
  if (typeof value === 'string' || !value.spec) return
  value.spec.values = value.spec.values.map((part) =>
    typeof part === 'string' ? unescape(part, head) : part,
  )
  for (const part of value.spec.values) unescapeSpec(part, head)
}

const interpolation = (children: Children): Field => {
  const spec = find(children, 'format_specifier') as Spec | undefined
  // A line break at the end of a specification is no part of its node.
  if (spec) addText(spec.joined.values, children.text.slice(spec.end, children.end - 1))
  const conversion = find(children, 'type_conversion') as Conversion | undefined
  const labelled = has(children, '=')
  const labelEnd = conversion?.start ?? spec?.start ?? children.end - 1
  return {
    start: children.start,
    end: children.end,
    label: labelled ? children.text.slice(children.start + 1, labelEnd) : '',
    value: {
      kind: 'FormattedValue',
      value: fieldValue(children),
      conversion: conversionOf(conversion) ?? (labelled && !spec ? 'r' : undefined),
      spec: spec?.joined ?? assignedSpec(children),
    },
  }
}

const conversionOf = (conversion: Conversion | undefined): ast.FormattedValue['conversion'] => {
  const letter = conversion?.letter
  return letter === 'r' || letter === 's' || letter === 'a' ? letter : undefined
}

/** `{x:=5}` is `x` with the spec `=5`: a walrus needs parentheses there, which the grammar does not know. */
const fieldValue = (children: Children): ast.Expression => {
  const value = exprAt(children, 1)
  if (nameAt(children, 1) !== 'named_expression' || value.kind !== 'NamedExpr') return value
  return { kind: 'Name', line: value.line, id: value.target }
}

const assignedSpec = (children: Children): ast.JoinedStr | undefined => {
  if (nameAt(children, 1) !== 'named_expression') return undefined
  const field = children.text.slice(children.start, children.end - 1)
  return { kind: 'JoinedStr', line: children.line, values: [field.slice(field.indexOf(':=') + 1)] }
}

const joinTexts = (parts: ast.Constant[]): string | undefined => {
  const texts = parts.flatMap(({ value }) => (typeof value === 'string' ? [value] : []))
  return texts.length === parts.length ? texts.join('') : undefined
}

const joinStrings = (line: number, parts: Literal[]): ast.JoinedStr => {
  const joined: ast.JoinedStr = { kind: 'JoinedStr', line, values: [] }
  for (const part of parts) {
    const pieces = part.kind === 'JoinedStr' ? part.values : [(part as ast.Constant).value]
    for (const piece of pieces) {
      if (typeof piece === 'string') addText(joined.values, piece)
      else joined.values.push(piece as ast.FormattedValue)
    }
  }
  return joined
}

export const stringBuilders: Builders = {
  string: (children): Literal => {
    const head = findLiteralHead(children.text, children.start)
    if (!head) return { kind: 'Constant', line: children.line, value: undefined }
    const joined: ast.JoinedStr = { kind: 'JoinedStr', line: children.line, values: [] }
    const read = (from: number, to: number) => unescapeBraced(children.text.slice(from, to), head)
    const end = addFields(joined, values(children) as Field[], head.start, read)
    addText(joined.values, read(end, children.end - head.quote.length))
    if (!head.raw) for (const value of joined.values) unescapeSpec(value, head)
    return joined
  },
  interpolation,
  format_expression: interpolation,
  format_specifier: (children): Spec => {
    const joined: ast.JoinedStr = { kind: 'JoinedStr', line: children.line, values: [] }
    const read = (from: number, to: number) => children.text.slice(from, to)
    const end = addFields(joined, values(children) as Field[], children.start + 1, read)
    addText(joined.values, read(end, children.end))
    return { start: children.start, end: children.end, joined }
  },
  /** Bytes join bytes only; with one f-string among them the whole is one. */
  concatenated_string: (children): Literal | typeof BROKEN => {
    const parts = values(children) as Literal[]
    if (parts.every((part) => part.kind === 'Bytes')) {
      return {
        kind: 'Bytes',
        line: children.line,
        value: Buffer.concat(parts.map((part) => part.value)),
      }
    }
    if (parts.some((part) => part.kind === 'Bytes')) return BROKEN
    if (parts.some((part) => part.kind === 'JoinedStr')) return joinStrings(children.line, parts)
    return { kind: 'Constant', line: children.line, value: joinTexts(parts as ast.Constant[]) }
  },
}
