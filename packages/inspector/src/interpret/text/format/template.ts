import { MAX_TEXT } from '../string/code-points.ts'

/** Access of `str.format` to its values. Undefined anywhere makes the whole result unknown. */
export interface TemplateSource<V> {
  positional: (index: number) => V | undefined
  named: (name: string) => V | undefined
  attribute: (value: V, name: string) => V | undefined
  /** `[2]` asks for an int, `[name]` for a str. */
  item: (value: V, key: bigint | string) => V | undefined
  convert: (value: V, conversion: 's' | 'r' | 'a') => V | undefined
  format: (value: V, spec: string) => string | undefined
}

/** A replacement field between literal texts. */
interface TemplateField {
  name: string
  conversion: string | undefined
  spec: string
}

/** Fields in a specification may not hold fields themselves. */
const MAX_DEPTH = 2

/** `template.format(...)`; undefined where Python raises, where a value is unknown, and over the cap. */
export const formatTemplate = <V>(
  template: string,
  source: TemplateSource<V>,
): string | undefined => expand(template, source, { next: 0, depth: MAX_DEPTH })

/** `string.Formatter().parse(template)`: literal texts and fields in turn; undefined for unbalanced braces. */
const parseTemplate = (template: string): (string | TemplateField)[] | undefined => {
  const pieces: (string | TemplateField)[] = []
  let literal = ''
  for (let at = 0; at < template.length;) {
    const character = template.charAt(at)
    const isDoubled = template.charAt(at + 1) === character
    if ((character !== '{' && character !== '}') || isDoubled) {
      literal += character
      at += isDoubled && (character === '{' || character === '}') ? 2 : 1
      continue
    }
    const end = character === '{' ? endOfField(template, at + 1) : undefined
    const field = end === undefined ? undefined : parseField(template.slice(at + 1, end))
    if (end === undefined || field === undefined) return undefined
    pieces.push(literal, field)
    literal = ''
    at = end + 1
  }
  return [...pieces, literal]
}

/** `next`: number of the next `{}`; undefined once a numbered field was met, as both don't mix. */
interface Progress {
  next: number | undefined
  depth: number
}

const expand = <V>(
  template: string,
  source: TemplateSource<V>,
  progress: Progress,
): string | undefined => {
  const pieces = progress.depth > 0 ? parseTemplate(template) : undefined
  if (pieces === undefined) return undefined
  const out: string[] = []
  let total = 0
  for (const piece of pieces) {
    const text = typeof piece === 'string' ? piece : expandField(piece, source, progress)
    if (text === undefined) return undefined
    total += text.length
    if (total > MAX_TEXT) return undefined
    out.push(text)
  }
  return out.join('')
}

const expandField = <V>(
  field: TemplateField,
  source: TemplateSource<V>,
  progress: Progress,
): string | undefined => {
  const name = parseFieldName(field.name)
  const found = name === undefined ? undefined : lookUp(name, source, progress)
  const value = found === undefined ? undefined : convert(found, field.conversion, source)
  if (value === undefined) return undefined
  const inner: Progress = { next: progress.next, depth: progress.depth - 1 }
  const spec = field.spec.includes('{') ? expand(field.spec, source, inner) : field.spec
  progress.next = inner.next
  return spec === undefined ? undefined : source.format(value, spec)
}

const lookUp = <V>(
  name: FieldName,
  source: TemplateSource<V>,
  progress: Progress,
): V | undefined => {
  let value = lookUpFirst(name.first, source, progress)
  for (const step of name.rest) {
    if (value === undefined) return undefined
    value =
      'attribute' in step ? source.attribute(value, step.attribute) : source.item(value, step.item)
  }
  return value
}

const lookUpFirst = <V>(
  first: bigint | string,
  source: TemplateSource<V>,
  progress: Progress,
): V | undefined => {
  if (typeof first === 'string' && first !== '') return source.named(first)
  if (first === '') {
    if (progress.next === undefined) return undefined
    progress.next += 1
    return source.positional(progress.next - 1)
  }
  if (progress.next !== undefined && progress.next > 0) return undefined
  progress.next = undefined
  return source.positional(Number(first))
}

const convert = <V>(
  value: V,
  conversion: string | undefined,
  source: TemplateSource<V>,
): V | undefined => {
  if (conversion === undefined) return value
  return conversion === 's' || conversion === 'r' || conversion === 'a'
    ? source.convert(value, conversion)
    : undefined
}

/**
 * Offset of the brace that closes the field. Braces inside count, but not those between the square brackets of its name.
 */
const endOfField = (template: string, start: number): number | undefined => {
  let depth = 1
  let inName = true
  let bracket = template.indexOf(']', start)
  for (let at = start; at < template.length; at += 1) {
    const character = template.charAt(at)
    if (character === ':' || character === '!') inName = false
    if (character === '{') depth += 1
    if (character === '}') depth -= 1
    if (depth === 0) return at
    if (character !== '[' || depth !== 1 || !inName || bracket < 0) continue
    // Asked again only when passed, and never after there was none: each scan reads on from the last.
    if (bracket < at) bracket = template.indexOf(']', at)
    if (bracket > at) at = bracket
  }
  return undefined
}

const FIELD = /^((?:[^![\]:{}]|\[[^\]]*\])*)(?:!([^]))?(?::([^]*))?$/u

const parseField = (text: string): TemplateField | undefined => {
  const match = FIELD.exec(text)
  if (match === null) return undefined
  return { name: match[1] ?? '', conversion: match[2], spec: match[3] ?? '' }
}

/** `0.name[key]`: what comes first (empty for the next in turn), then attributes and items. */
interface FieldName {
  first: bigint | string
  rest: ({ attribute: string } | { item: bigint | string })[]
}

const FIRST = /^[^.[]*/
const STEP = /^(?:\.([^.[]+)|\[([^\]]+)\])/

/** Reads the name of a replacement field; undefined for one that Python rejects. */
const parseFieldName = (text: string): FieldName | undefined => {
  const first = FIRST.exec(text)?.[0] ?? ''
  const rest: FieldName['rest'] = []
  let at = first.length
  while (at < text.length) {
    const match = STEP.exec(text.slice(at))
    if (match === null) return undefined
    const [whole, attribute, item = ''] = match
    rest.push(attribute === undefined ? { item: intOrText(item) } : { attribute })
    at += whole.length
  }
  return { first: intOrText(first), rest }
}

const intOrText = (text: string): bigint | string => (/^\d{1,15}$/.test(text) ? BigInt(text) : text)
