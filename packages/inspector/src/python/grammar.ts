import type { Language } from 'web-tree-sitter'
import type { Builder, Builders } from './children.ts'
import { CHECKS, type Check } from './syntax-errors.ts'
import { words } from '../words.ts'
import { collectionBuilders } from './build/collections.ts'
import { compoundStatementBuilders } from './build/compound-statements.ts'
import { expressionBuilders } from './build/expressions.ts'
import { importBuilders, simpleStatementBuilders } from './build/simple-statements.ts'
import { leafBuilders, typeBuilders, type LeafBuilder } from './build/leaves.ts'
import { operatorBuilders } from './build/operators.ts'
import { parameterBuilders } from './build/parameters.ts'
import { patternBuilders } from './build/patterns.ts'
import { stringBuilders } from './build/strings.ts'
import { withBuilders } from './build/with.ts'

const BUILDERS: Builders = {
  ...collectionBuilders,
  ...compoundStatementBuilders,
  ...expressionBuilders,
  ...importBuilders,
  ...operatorBuilders,
  ...parameterBuilders,
  ...patternBuilders,
  ...simpleStatementBuilders,
  ...stringBuilders,
  ...typeBuilders,
  ...withBuilders,
}

const COMMENTS = new Set(['comment', 'line_continuation'])

/** Too deep a nesting turns these into an unknown; anything else that is too deep spoils its statement. */
const EXPRESSIONS = new Set([
  ...Object.keys(operatorBuilders),
  ...words(`
    attribute subscript call lambda yield list_splat expression_list generic_type member_type
    list tuple set dictionary string concatenated_string
    list_comprehension set_comprehension generator_expression dictionary_comprehension`),
])

/** Nodes that add no level to the tree that is built, or whose levels are counted in another way. */
const FLAT = new Set([
  ...Object.keys(compoundStatementBuilders),
  ...Object.keys(simpleStatementBuilders),
  ...words('parenthesized_expression argument_list keyword_argument pair type with_item'),
])

const HAVE_BLOCKS = new Set([
  ...Object.keys(compoundStatementBuilders),
  ...words('with_statement case_clause'),
])

const CHAINS = new Set(words('binary_operator union_type boolean_operator'))

const SPLAT_HOISTS = new Set(
  words(`
    binary_operator boolean_operator comparison_operator unary_operator attribute subscript call`),
)

const AS_HOISTS = new Set(words('conditional_expression lambda'))

const SPANS = new Set(
  words('unary_operator string interpolation format_expression format_specifier'),
)

const COMPREHENSIONS = words(
  'list_comprehension set_comprehension generator_expression dictionary_comprehension',
)

const OPEN = new Set(['lambda', ...COMPREHENSIONS])

const BRACKETS = new Set([
  ...COMPREHENSIONS,
  ...words('parenthesized_expression argument_list subscript tuple list dictionary set parameters'),
])

/** Actions of the walk at a node of one type: numbers, because it asks a million times for each 6 MB. */
export const SKIP = 0
export const TOKEN = 1
export const LEAF = 2
export const STRING = 3
const INNER = 4

export interface NodeType {
  name: string
  shape: number
  leaf: LeafBuilder | undefined
  build: Builder | undefined
  isStatement: boolean
  isExpression: boolean
  /** Holds blocks: it can be right in part. */
  hasBlock: boolean
  /** Adds a level of nesting. */
  nests: boolean
  /** A node of the same type as its first child is the beginning of the same chain. */
  chains: boolean
  /** A star before its first child belongs before the whole. */
  hoistsSplat: boolean
  /** A target after its last child belongs to the whole. */
  hoistsAs: boolean
  /** Its builder reads `start` and `end`. */
  needsSpan: boolean
  check: Check | undefined
  /** `await` and the like may be anywhere in it. */
  isOpen: boolean
  hasBrackets: boolean
}

/** The types of nodes by the number the parser gives them, read once. */
export const readNodeTypes = (language: Language): NodeType[] =>
  language.types.map((name, id) => nodeType(internalize(name ?? ''), language.nodeTypeIsNamed(id)))

/** The same name as the literals here, which V8 compares by address: those of the binding it compares by character. */
const internalize = (name: string): string => Object.keys({ [name]: 0 })[0] ?? ''

const nodeType = (name: string, named: boolean): NodeType => {
  const leaf = named ? leafBuilders[name] : undefined
  const build = named ? BUILDERS[name] : undefined
  return {
    name,
    shape: shapeOf(name, leaf, build),
    leaf,
    build,
    isStatement: named && /_(statement|definition)$/.test(name),
    isExpression: EXPRESSIONS.has(name),
    hasBlock: named && HAVE_BLOCKS.has(name),
    nests: build !== undefined && !FLAT.has(name),
    chains: named && CHAINS.has(name),
    hoistsSplat: named && SPLAT_HOISTS.has(name),
    hoistsAs: named && AS_HOISTS.has(name),
    needsSpan: named && SPANS.has(name),
    check: named || name === '<>' ? CHECKS[name] : undefined,
    isOpen: named && OPEN.has(name),
    hasBrackets: named && BRACKETS.has(name),
  }
}

const shapeOf = (
  name: string,
  leaf: LeafBuilder | undefined,
  build: Builder | undefined,
): number => {
  if (COMMENTS.has(name)) return SKIP
  if (leaf) return LEAF
  if (!build) return TOKEN
  return name === 'string' ? STRING : INNER
}

/** Text that the parser could make nothing of. It has a number of its own, outside the list. */
export const ERROR: NodeType = { ...nodeType('ERROR', true), shape: INNER }
