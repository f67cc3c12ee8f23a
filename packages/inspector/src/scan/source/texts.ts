import type { BinOp, Call, Constant, Dict, Expression, Subscript } from '../../python/ast.ts'
import { textsOfCall, type TextsOf } from './call-texts.ts'
import { deeper, type Binding, type Query, type Scope } from './scope.ts'
import { findBindings } from './find-bindings.ts'
import { bytesText, concatenate, environmentFolder, HOLE, MAX_TEXT, MAX_TEXTS } from './text.ts'

/**
 * The texts a value may be, put together from constants: `+`, f-strings, `%`, join, format, paths, decoders of constants,
 * names followed to what they are assigned. What can't be known is a HOLE within the text, so that
 * `os.path.join(home, '.ssh', 'id_rsa')` still shows its end.
 */
export const textsWithin = (node: Expression, scope: Scope, query: Query): string[] => {
  const texts: TextsOf = (part) => query.texts(part, scope)
  switch (node.kind) {
    case 'Constant':
      return [constantOf(node.value)]
    case 'Bytes':
      return [bytesText(node.value).slice(0, MAX_TEXT)]
    case 'JoinedStr':
      return node.values
        .slice(0, MAX_PARTS)
        .map((value) => (typeof value === 'string' ? [value] : texts(value.value)))
        .reduce(concatenate, [''])
    case 'BinOp':
      return textsOfOperation(node, texts)
    case 'Name':
      return textsOfBindings(findBindings(scope, node.id), query)
    case 'Attribute':
      return textsOfBindings(query.targets(node, scope), query)
    case 'Call':
      return orElse(textsOfCall(node, scope, query), node, scope, query)
    case 'Subscript':
      return orElse(textsOfItem(node, scope, query), node, scope, query)
    default:
      return textsOfChoice(node, texts)
  }
}

/** Follows functions and items of other files where nothing else is known. */
const orElse = (texts: string[], node: Expression, scope: Scope, query: Query): string[] =>
  texts.every((text) => text === HOLE) ? textsOfBindings(query.targets(node, scope), query) : texts

const textsOfChoice = (node: Expression, texts: TextsOf): string[] => {
  if (node.kind === 'IfExp') return [node.body, node.orelse].flatMap(texts)
  if (node.kind === 'BoolOp') return node.values.slice(0, MAX_TEXTS).flatMap(texts)
  if (node.kind === 'NamedExpr' || node.kind === 'Await') return texts(node.value)
  return [HOLE]
}

const constantOf = (value: Constant['value']): string =>
  typeof value === 'string' || typeof value === 'bigint' || typeof value === 'number'
    ? String(value).slice(0, MAX_TEXT)
    : HOLE

const textsOfOperation = (node: BinOp, texts: TextsOf): string[] => {
  let made = texts(node.left)
  for (const { op, value } of node.rights.slice(0, MAX_PARTS)) {
    if (op === '+') made = concatenate(made, texts(value))
    else if (op === '/') made = concatenate(concatenate(made, ['/']), texts(value))
    else if (op === '%') made = interpolate(made, value, texts)
    else return [HOLE]
  }
  return made
}

/** A sum of thousands of strings is a blob, not an address. */
const MAX_PARTS = 500

/** A longer one is a document. */
const MAX_FORMAT = 2000

/** `"%s/%s" % (a, b)`: each conversion takes the next value. */
const interpolate = (formats: string[], value: Expression, texts: TextsOf): string[] => {
  const values = value.kind === 'Tuple' ? value.items : [value]
  return formats.flatMap((format) => {
    if (format.length > MAX_FORMAT) return [HOLE]
    const pieces = format.split(/%(?:\([^)]*\))?[-#0-9.+ ]*[a-zA-Z]/)
    return pieces
      .map((piece, at) =>
        at === 0
          ? [piece]
          : concatenate(values[at - 1] ? texts(values[at - 1] as Expression) : [HOLE], [piece]),
      )
      .reduce(concatenate, [''])
  })
}

const textsOfBindings = (bindings: Binding[] | undefined, query: Query): string[] =>
  bindings?.length ? bindings.flatMap((binding) => textsOfBinding(binding, query)) : [HOLE]

const textsOfBinding = (binding: Binding, query: Query): string[] => {
  switch (binding.kind) {
    case 'value':
      return query.texts(binding.value, binding.scope)
    case 'added':
      return concatenate([HOLE], query.texts(binding.value, binding.scope))
    case 'item':
      return itemsOf(binding.value, binding.scope, query)
    case 'parameter':
      return binding.value ? [...query.texts(binding.value, binding.scope), HOLE] : [HOLE]
    default:
      return [HOLE]
  }
}

/** Texts of the items of a display, of whatever depth: a loop over `[('a', path)]` may mean either. */
const itemsOf = (node: Expression, scope: Scope, query: Query): string[] =>
  deeper(query, () => itemsWithin(node, scope, query).slice(0, MAX_TEXTS), [HOLE])

const itemsWithin = (node: Expression, scope: Scope, query: Query): string[] => {
  const items = (part: Expression): string[] =>
    isDisplay(part) ? itemsOf(part, scope, query) : query.texts(part, scope)
  if (node.kind === 'Tuple' || node.kind === 'List' || node.kind === 'Set')
    return node.items.slice(0, MAX_TEXTS * 2).flatMap(items)
  if (node.kind === 'Dict') return valuesAndKeys(node).flatMap(items)
  if (node.kind === 'Call') return itemsOfCall(node, scope, query)
  if (node.kind !== 'Name') return [HOLE]
  return (findBindings(scope, node.id) ?? []).flatMap((binding) =>
    binding.kind === 'value' || binding.kind === 'item'
      ? itemsOf(binding.value, binding.scope, query)
      : [HOLE],
  )
}

/** `table.items()`, `enumerate(list)`, `sorted(set)`. */
const itemsOfCall = (node: Call, scope: Scope, query: Query): string[] => {
  if (node.func.kind === 'Attribute' && /^(items|values|keys)$/.test(node.func.attr))
    return itemsOf(node.func.value, scope, query)
  if (
    node.func.kind === 'Name' &&
    /^(enumerate|sorted|list|tuple|set|zip|reversed|iter)$/.test(node.func.id)
  )
    return node.args.slice(0, MAX_TEXTS).flatMap((part) => itemsOf(part, scope, query))
  return [HOLE]
}

const valuesAndKeys = (node: Dict): Expression[] =>
  node.items.slice(0, MAX_TEXTS).flatMap(({ key, value }) => (key ? [value, key] : [value]))

const isDisplay = (node: Expression): boolean => /^(Tuple|List|Set|Dict)$/.test(node.kind)

/** `text[::-1]`, an entry of a display, a folder of the environment. */
const textsOfItem = (node: Subscript, scope: Scope, query: Query): string[] => {
  if (node.index.kind === 'Slice') {
    const { lower, upper, step } = node.index
    const reversed = !lower && !upper && step && query.constant(step, scope)
    return isMinusOne(step) || reversed === '-1'
      ? query.texts(node.value, scope).map((text) => [...text].toReversed().join(''))
      : [HOLE]
  }
  if (node.value.kind === 'Attribute' && node.value.attr === 'environ')
    return query.texts(node.index, scope).map(environmentFolder)
  return itemsOf(node.value, scope, query)
}

const isMinusOne = (step: Expression | undefined): boolean =>
  step?.kind === 'UnaryOp' &&
  step.op === '-' &&
  step.operand.kind === 'Constant' &&
  step.operand.value === 1n
