import type { Expression } from '../../python/ast.ts'
import { namesWithin } from './names.ts'
import { charge, deeper, MAX_STEPS, type Binding, type Query, type Scope } from './scope.ts'
import { HOLE, isWhole, MAX_TEXTS } from './text.ts'
import { endsWithin, targetsWithin } from './targets.ts'
import { textsWithin } from './texts.ts'

export const makeQuery = ({ effort }: Scope): Query => {
  const query: Query = {
    steps: MAX_STEPS,
    depth: 0,
    effort,
    names: once((node, scope) =>
      deeper(query, () => unique(namesWithin(node, scope, query), MAX_NAMES), []),
    ),
    targets: once((node, scope) => deeper(query, () => targetsWithin(node, scope, query), [])),
    ends: once((node, scope) => deeper(query, () => endsWithin(node, scope, query), [])),
    texts: (node, scope) => {
      const texts = deeper(query, () => textsWithin(node, scope, query), [HOLE])
      // Long texts cost what many short ones do.
      charge(query, Math.floor(texts.reduce((sum, text) => sum + text.length, 0) / STEP_LENGTH))
      return unique(texts, MAX_TEXTS)
    },
    constant: (node, scope) => {
      const [text, ...others] = query.texts(node, scope)
      return text !== undefined && others.length === 0 && isWhole(text) ? text : undefined
    },
  }
  return query
}

const MAX_NAMES = 6

/** Remembers the result of each question; a question that leads back to itself finds nothing. */
const once = <T>(
  result: (node: Expression, scope: Scope) => T[],
): ((node: Expression, scope: Scope) => T[]) => {
  // Made when it is needed, because most queries ask one or two of their questions.
  let known: Map<Expression, { scope: Scope; found: T[] }> | undefined
  return (node, scope) => {
    const at = known?.get(node)
    if (at?.scope === scope) return at.found
    const asked = { scope, found: [] as T[] }
    known ??= new Map()
    known.set(node, asked)
    asked.found = result(node, scope)
    return asked.found
  }
}

/** Characters of text that count as a step. */
const STEP_LENGTH = 64

/** Most values have one name and one text at most. */
const unique = (all: string[], max: number): string[] =>
  all.length < 2 ? all : [...new Set(all)].slice(0, max)

/** Dotted names that an expression may stand for; see `namesWithin`. */
export const namesOf = (node: Expression, scope: Scope): string[] =>
  makeQuery(scope).names(node, scope)

/** Finds what an expression leads to; see `targetsWithin`. */
export const targetsOf = (node: Expression, scope: Scope): Binding[] =>
  makeQuery(scope).targets(node, scope)

/** The last bindings that an expression leads to. */
export const endsOf = (node: Expression, scope: Scope): Binding[] =>
  makeQuery(scope).ends(node, scope)

/** Texts that a value may be, unknown parts as HOLE; see `textsWithin`. */
export const textsOf = (node: Expression, scope: Scope): string[] =>
  makeQuery(scope).texts(node, scope)

/** The text of a value that can be only one and is wholly known. */
export const constantText = (node: Expression, scope: Scope): string | undefined =>
  makeQuery(scope).constant(node, scope)
