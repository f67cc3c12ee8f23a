import type { Attribute, Call, Expression } from '../../python/ast.ts'
import {
  bytesText,
  concatenate,
  decodeCodec,
  decodeText,
  environmentFolder,
  HOLE,
  isWhole,
} from './text.ts'
import { isList } from './parts.ts'
import type { Query, Scope } from './scope.ts'
import { dottedNames, words } from '../../words.ts'

/** Texts of a part of what is read. */
export type TextsOf = (part: Expression) => string[]

/** Texts of what a call gives: string methods, path functions, decoders of constants. */
export const textsOfCall = (node: Call, scope: Scope, query: Query): string[] => {
  const byName = query
    .names(node.func, scope)
    .map((name) => textsOfFunction(name, node, scope, query))
  const found = byName.find((texts) => texts !== undefined)
  if (found) return found
  return node.func.kind === 'Attribute' ? textsOfMethod(node, node.func, scope, query) : [HOLE]
}

const textsOfFunction = (
  name: string,
  node: Call,
  scope: Scope,
  query: Query,
): string[] | undefined => {
  const texts: TextsOf = (part) => query.texts(part, scope)
  const [first, second] = node.args
  if (name === 'pathlib.Path.home') return ['~']
  if (!first) return undefined
  if (JOINERS.has(name)) return joinPaths(node.args.slice(0, MAX_ITEMS).map(texts))
  if (SAME_PATH.has(name)) return texts(first)
  if (ENVIRONMENT.has(name)) return texts(first).map(environmentFolder)
  if (name === 'builtins.chr') return texts(first).map(characterOf)
  if (name === 'builtins.bytes' || name === 'builtins.bytearray') return bytesOf(first, texts)
  if (name === 'codecs.decode' && second) return decodedBy(texts(second)[0], texts(first))
  const decoded = texts(first).map((text) => isWhole(text) && decodeText(name, text))
  return decoded.some((text) => typeof text === 'string')
    ? decoded.map((text) => (typeof text === 'string' ? text : HOLE))
    : undefined
}

const JOINERS = dottedNames({
  'os.path': 'join',
  posixpath: 'join',
  ntpath: 'join',
  pathlib: 'Path PurePath PosixPath WindowsPath',
})

/** Their result is their first argument, as far as a pattern can see. */
export const SAME_PATH: ReadonlySet<string> = dottedNames({
  builtins: 'str memoryview',
  'os.path': 'expanduser expandvars abspath normpath realpath',
  os: 'fspath fsdecode fsencode',
  shlex: 'quote',
  glob: 'escape',
})

const ENVIRONMENT = new Set(['os.getenv', 'os.environ.get'])

const joinPaths = (parts: string[][]): string[] =>
  parts.reduce((left, right) => concatenate(concatenate(left, ['/']), right))

const characterOf = (text: string): string => {
  const code = Number(text)
  return isWhole(text) && Number.isInteger(code) && code >= 0 && code < 0x110000
    ? String.fromCodePoint(code)
    : HOLE
}

/** `bytes([111, 115])`, `bytes('x', 'utf8')`. */
const bytesOf = (first: Expression, texts: TextsOf): string[] =>
  isList(first)
    ? first.items
        .slice(0, MAX_ITEMS)
        .map((item) => texts(item).map(characterOf))
        .reduce(concatenate, [''])
    : texts(first)

const decodedBy = (codec: string | undefined, texts: string[]): string[] =>
  texts.map((text) => (isWhole(text) && codec ? (decodeCodec(codec, text) ?? HOLE) : HOLE))

const textsOfMethod = (node: Call, func: Attribute, scope: Scope, query: Query): string[] => {
  const texts: TextsOf = (part) => query.texts(part, scope)
  const [first, second] = node.args
  switch (func.attr) {
    case 'join':
      return first ? joinItems(texts(func.value), first, { scope, query }) : [HOLE]
    case 'joinpath':
      return joinPaths([texts(func.value), ...node.args.map(texts)])
    case 'format':
      return texts(func.value).flatMap((format) => fill(format, node, texts))
    case 'replace':
      return first && second
        ? replaceIn(texts(func.value), texts(first)[0], texts(second)[0])
        : texts(func.value)
    case 'decode':
    case 'encode':
      return recode(texts(func.value), first && texts(first)[0])
    case 'lower':
      return texts(func.value).map((text) => text.toLowerCase())
    case 'upper':
      return texts(func.value).map((text) => text.toUpperCase())
    default:
      return UNCHANGING.has(func.attr) ? texts(func.value) : [HOLE]
  }
}

/** Methods that leave the text as it is, as far as a pattern can see. */
const UNCHANGING = new Set(words('strip lstrip rstrip expanduser resolve absolute as_posix'))

const recode = (texts: string[], codec: string | undefined): string[] =>
  texts.map((text) =>
    codec !== undefined && isWhole(text) ? (decodeCodec(codec, text) ?? text) : text,
  )

const replaceIn = (texts: string[], from: string | undefined, to: string | undefined): string[] =>
  texts.map((text) =>
    from && to !== undefined && isWhole(from) ? text.replaceAll(from, () => to) : text,
  )

/** `"{}/{0}/{name}".format(…)`. */
const fill = (format: string, node: Call, texts: TextsOf): string[] => {
  const pieces = format.split(/\{([^{}]*)\}/)
  let next = 0
  return pieces
    .map((piece, at) => {
      if (at % 2 === 0) return [piece]
      const field = /^\w*/.exec(piece)?.[0] ?? ''
      const value = /^\d*$/.test(field)
        ? node.args[field === '' ? next++ : Number(field)]
        : node.keywords.find(({ name }) => name === field)?.value
      return value ? texts(value) : [HOLE]
    })
    .reduce(concatenate, [''])
}

/** `"".join(["o", "s"])`, `"".join(map(chr, [111, 115]))`, `"".join(reversed("so"))`. */
const joinItems = (
  separators: string[],
  node: Expression,
  { scope, query }: { scope: Scope; query: Query },
): string[] => {
  const [separator] = separators
  const items = displayItems(node, scope, query)
  if (!items || separator === undefined) return [HOLE]
  return items.reduce(
    (made, item, at) => concatenate(at === 0 ? made : concatenate(made, [separator]), item),
    [''],
  )
}

/** Names that are put together have few parts. */
const MAX_ITEMS = 500

const displayItems = (node: Expression, scope: Scope, query: Query): string[][] | undefined => {
  if (isList(node))
    return node.items.length > MAX_ITEMS
      ? undefined
      : node.items.map((item) => query.texts(item, scope))
  if (node.kind === 'Bytes') return [[bytesText(node.value)]]
  if (node.kind !== 'Call') return undefined
  const [first, second] = node.args
  const name = query.names(node.func, scope)[0]
  if (name === 'builtins.reversed' && first)
    return [query.texts(first, scope).map((text) => [...text].toReversed().join(''))]
  if (name !== 'builtins.map' || !first || !second) return undefined
  return query.names(first, scope)[0] === 'builtins.chr'
    ? displayItems(second, scope, query)?.map((item) => item.map(characterOf))
    : undefined
}
