import type { Attribute, Call, Expression, Subscript } from '../../python/ast.ts'
import { isDisguise } from './text.ts'
import { isDecoder, sourcesOf, type Origin } from './origin-names.ts'
import { partsOf } from './parts.ts'
import { charge, deeper, type Binding, type Query, type Scope } from './scope.ts'
import { findBindings } from './find-bindings.ts'
import { makeQuery } from './values.ts'
import { dottedNames, words } from '../../words.ts'

/**
 * Finds the origins of a value's content, through assignments, string operations, decoders, containers and functions of
 * the same file.
 */
export const originsOf = (node: Expression, scope: Scope): ReadonlySet<Origin> => {
  const found = new Set<Origin>()
  addOrigins({ node, scope }, { found, query: makeQuery(scope) })
  return found
}

interface Search {
  found: Set<Origin>
  query: Query
}

interface Place {
  node: Expression
  scope: Scope
}

const addOrigins = (place: Place, search: Search): void =>
  deeper(search.query, () => addWithin(place, search), undefined)

const addWithin = ({ node, scope }: Place, search: Search): void => {
  switch (node.kind) {
    case 'Name':
      return addBindings(findBindings(scope, node.id) ?? [], search)
    case 'Attribute':
      return addAttribute(node, scope, search)
    case 'Call':
      return addCall(node, scope, search)
    case 'Subscript':
      return addItem(node, scope, search)
    case 'Comprehension':
      // What its loops bind is out of reach here; what they loop over has the same content.
      for (const part of [node.element, ...node.clauses.map(({ iter }) => iter)])
        addOrigins({ node: part, scope }, search)
      return undefined
    case 'DictComprehension':
      for (const part of [node.key, node.value, ...node.clauses.map(({ iter }) => iter)])
        addOrigins({ node: part, scope }, search)
      return undefined
    case 'Lambda':
    case 'Compare':
      return undefined
    default:
      return addParts(node, scope, search)
  }
}

const addParts = (node: Expression, scope: Scope, search: Search): void => {
  const parts = partsOf(node)
  charge(search.query, Math.floor(parts.length / 16))
  for (const part of parts.slice(0, MAX_PARTS)) addOrigins({ node: part, scope }, search)
}

/** A display of more is data. */
const MAX_PARTS = 300

const addBindings = (bindings: Binding[], search: Search): void => {
  for (const binding of bindings) {
    if ('value' in binding && binding.value)
      addOrigins({ node: binding.value, scope: binding.scope }, search)
  }
}

const addAttribute = (node: Attribute, scope: Scope, search: Search): void => {
  addBindings(search.query.targets(node, scope), search)
  if (search.query.names(node, scope).includes('os.environ')) search.found.add('environment')
  else if (!ABOUT_RESULT.has(node.attr)) addOrigins({ node: node.value, scope }, search)
}

/** Attributes that describe a response or a file, and hold none of its content. */
const ABOUT_RESULT = new Set(
  words(`
    elapsed encoding headers name ok reason returncode shape size status status_code url`),
)

const addCall = (node: Call, scope: Scope, search: Search): void => {
  const names = search.query.names(node.func, scope)
  const sources = names.flatMap((name) =>
    sourcesOf(name, node, (part) => search.query.constant(part, scope)),
  )
  for (const source of sources) search.found.add(source)
  if (sources.includes('variable')) return
  if (names.includes('builtins.map')) addMapped(node, scope, search)
  addBindings(search.query.targets(node, scope), search)
  if (node.func.kind === 'Attribute') addMethod(node, node.func, scope, search)
  if (names.some(isPassing) || sources.length > 0)
    for (const part of node.args.slice(0, MAX_PARTS)) addOrigins({ node: part, scope }, search)
}

/** `map(chr, numbers)`. */
const addMapped = ({ args: [mapped] }: Call, scope: Scope, search: Search): void => {
  const names = mapped ? search.query.names(mapped, scope) : []
  if (names.some(isDecoder)) search.found.add('decoded')
}

const addMethod = (node: Call, func: Attribute, scope: Scope, search: Search): void => {
  const [first] = node.args
  if (func.attr === 'read_text' || func.attr === 'read_bytes') search.found.add('file')
  if (func.attr === 'decode' && first && isDisguise(search.query.constant(first, scope) ?? ''))
    search.found.add('decoded')
  if (func.attr === 'json') return addResult({ node: func.value, scope }, search)
  if (func.attr === 'join' || func.attr === 'format')
    for (const part of node.args.slice(0, MAX_PARTS)) addOrigins({ node: part, scope }, search)
  if (!ABOUT_RESULT.has(func.attr)) addOrigins({ node: func.value, scope }, search)
}

/** A parsed response is data, of which a single member may still be text. */
const addResult = (place: Place, search: Search): void => {
  const within: Search = { found: new Set(), query: search.query }
  addOrigins(place, within)
  for (const origin of within.found) search.found.add(origin === 'network' ? 'response' : origin)
}

/** Functions whose result has the content of their arguments. */
const isPassing = (name: string): boolean => PASSING.has(name) || PASSING_MODULES.test(name)

const PASSING_MODULES =
  /^(base64|binascii|zlib|gzip|bz2|lzma|marshal|codecs|json|textwrap|urllib\.parse|copy)\./

const PASSING = dottedNames({
  builtins:
    'bytearray bytes compile dict filter iter list map memoryview repr reversed sorted str tuple BytesIO StringIO',
})

const addItem = (node: Subscript, scope: Scope, search: Search): void => {
  if (search.query.names(node.value, scope).includes('os.environ')) search.found.add('variable')
  else {
    if (isReversal(node.index) && search.query.constant(node.value, scope) !== undefined)
      search.found.add('decoded')
    addBindings(search.query.targets(node, scope), search)
    addOrigins({ node: node.value, scope }, search)
  }
}

/** `[::-1]`, which hides a constant and sorts anything else. */
const isReversal = (index: Expression): boolean =>
  index.kind === 'Slice' &&
  !index.lower &&
  !index.upper &&
  index.step?.kind === 'UnaryOp' &&
  index.step.op === '-' &&
  index.step.operand.kind === 'Constant' &&
  index.step.operand.value === 1n
