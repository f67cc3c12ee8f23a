import type { Call, ComprehensionClause, Expression, Lambda } from '../../python/ast.ts'
import { bindSetattr, bindTarget } from './bind-target.ts'
import { bindParameters, defaultsOf } from './parameters.ts'
import { partsOf } from './parts.ts'
import { bindName, type Scope } from './scope.ts'
import { bytesText } from './text.ts'
import { functionOf, newScope, pushExpressions, type TextSite, type Walk } from './walk.ts'

export const walkExpression = (walk: Walk, node: Expression, scope: Scope): void => {
  switch (node.kind) {
    case 'Lambda':
      return walkLambda(walk, node, scope)
    case 'Comprehension':
      return walkComprehension(walk, [node.element], node.clauses, scope)
    case 'DictComprehension':
      return walkComprehension(walk, [node.key, node.value], node.clauses, scope)
    case 'NamedExpr':
      bindName(scope, node.target, { kind: 'value', value: node.value, scope })
      break
    case 'Yield':
    case 'YieldFrom':
      if (node.value) functionOf(scope)?.returns.push(node.value)
      break
    default:
      record(walk, node, scope)
  }
  pushExpressions(walk, partsOf(node), scope)
}

export const isText = (node: Expression): boolean =>
  node.kind === 'Constant' || node.kind === 'Bytes' || node.kind === 'JoinedStr'

const record = (walk: Walk, node: Expression, scope: Scope): void => {
  if (node.kind === 'Call') {
    recordCall(walk, node, scope)
    bindSetattr(node, scope)
  } else if (node.kind === 'Dict') walk.dicts.push({ node, scope })
  else if (isText(node)) {
    for (const site of textSites(node)) walk.texts.push(site)
    recordLong(walk, node)
  }
}

export const recordCall = (walk: Walk, call: Call, scope: Scope): void => {
  walk.calls.push({ call, scope })
  functionOf(scope)?.calls.push({ call, scope })
}

/** Notes a long text, that of a docstring too. */
export const recordLong = (walk: Walk, node: Expression): void => {
  for (const site of textSites(node)) if (site.text.length > LONG) walk.longTexts.push(site)
}

const LONG = 1000

const textSites = (node: Expression): TextSite[] => {
  const { line } = node
  if (node.kind === 'Constant')
    return typeof node.value === 'string' ? [{ text: node.value, line }] : []
  if (node.kind === 'Bytes') return [{ text: bytesText(node.value), line }]
  return node.kind === 'JoinedStr'
    ? node.values.flatMap((text) => (typeof text === 'string' ? [{ text, line }] : []))
    : []
}

const walkLambda = (walk: Walk, node: Lambda, scope: Scope): void => {
  const own = newScope(walk, 'function', scope)
  bindParameters(node.args, own, scope)
  own.returns.push(node.body)
  walk.file.lambdas.set(node, own)
  pushExpressions(walk, [node.body], own)
  pushExpressions(walk, defaultsOf(node.args), scope)
}

const walkComprehension = (
  walk: Walk,
  elements: Expression[],
  clauses: ComprehensionClause[],
  scope: Scope,
): void => {
  const own = newScope(walk, 'comprehension', scope)
  for (const { target, iter } of clauses)
    bindTarget(target, { kind: 'item', value: iter, scope: own }, own)
  const heads = clauses.flatMap(({ iter, conditions }) => [iter, ...conditions])
  pushExpressions(walk, [...heads, ...elements], own)
}
