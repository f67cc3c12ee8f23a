import type {
  Arguments,
  Call,
  ClassDef,
  ComprehensionClause,
  Dict,
  Expression,
  FunctionDef,
  Lambda,
  Module,
  Parameter,
  Statement,
} from '../../python/ast.ts'
import { bindImport, bindImportFrom, bindTarget } from './bind-target.ts'
import { bind, bindName, makeScope } from './scope.ts'
import type { Effort, Scope } from './scope.ts'
import { bytesText } from './text.ts'
import { partsOf } from './parts.ts'
import type { ImportedModule, TextSite } from './source-file.ts'

export interface Sites {
  calls: { call: Call; scope: Scope }[]
  texts: TextSite[]
  /** Strings and bytes above 1,000 characters, docstrings included. */
  longTexts: TextSite[]
  dicts: { node: Dict; scope: Scope }[]
  imports: ImportedModule[]
  effort: Effort
}

/** What is still to be walked. A stack of its own: sources may nest deeper than JavaScript can call. */
interface Walk extends Sites {
  todo: ({ statement: Statement; scope: Scope } | { expression: Expression; scope: Scope })[]
  scopes: number
}

/** Walks a module once: binds every name, gathers what rules look at, in source order. */
export const collectSites = (module: Module): Sites => {
  const top = makeScope(0, 'module', undefined)
  const walk: Walk = {
    todo: [],
    scopes: 1,
    calls: [],
    texts: [],
    longTexts: [],
    dicts: [],
    imports: [],
    effort: top.effort,
  }
  push(walk, module.body, top)
  for (let next = walk.todo.pop(); next; next = walk.todo.pop()) {
    if ('statement' in next) walkStatement(walk, next.statement, next.scope)
    else walkExpression(walk, next.expression, next.scope)
  }
  return walk
}

const newScope = (
  walk: Walk,
  kind: Scope['kind'],
  parent: Scope | undefined,
  self?: string,
): Scope => makeScope(walk.scopes++, kind, parent, self)

const push = (walk: Walk, statements: readonly Statement[], scope: Scope): void => {
  for (const statement of statements.toReversed()) walk.todo.push({ statement, scope })
}

const pushExpressions = (
  walk: Walk,
  expressions: readonly (Expression | undefined)[],
  scope: Scope,
): void => {
  for (const expression of expressions.toReversed())
    if (expression) walk.todo.push({ expression, scope })
}

/** Bodies are pushed before heads, so that heads come off the stack first. */
const walkStatement = (walk: Walk, node: Statement, scope: Scope): void => {
  switch (node.kind) {
    case 'FunctionDef':
      return walkFunction(walk, node, scope)
    case 'ClassDef':
      return walkClass(walk, node, scope)
    case 'Return':
      if (node.value) functionOf(scope)?.returns.push(node.value)
      return pushExpressions(walk, [node.value], scope)
    case 'Expr':
      // A string alone is a docstring or a comment.
      return isText(node.value)
        ? noteLong(walk, node.value)
        : pushExpressions(walk, [node.value], scope)
    case 'Import':
      walk.imports.push(
        ...node.names.map(({ name }) => ({ level: 0, module: name, names: [] as string[] })),
      )
      return bindImport(node, scope)
    case 'ImportFrom':
      walk.imports.push({
        level: node.level,
        module: node.module ?? '',
        names: node.names.map(({ name }) => name),
      })
      return bindImportFrom(node, scope)
    case 'Global':
    case 'Nonlocal':
      for (const name of node.names) scope.outer.add(name)
      return undefined
    default:
      return walkOther(walk, node, scope)
  }
}

const walkOther = (walk: Walk, node: Statement, scope: Scope): void => {
  switch (node.kind) {
    case 'Assign':
      for (const target of node.targets)
        bindTarget(target, { kind: 'value', value: node.value, scope }, scope)
      return pushExpressions(walk, [...node.targets, node.value], scope)
    case 'AnnAssign':
      if (node.value) bindTarget(node.target, { kind: 'value', value: node.value, scope }, scope)
      return pushExpressions(walk, [node.value], scope)
    case 'AugAssign':
      bindTarget(node.target, { kind: 'added', value: node.value, scope }, scope)
      return pushExpressions(walk, [node.value], scope)
    case 'For':
      bindTarget(node.target, { kind: 'item', value: node.iter, scope }, scope)
      push(walk, [...node.body, ...node.orelse], scope)
      return pushExpressions(walk, [node.iter], scope)
    case 'While':
    case 'If':
      push(walk, [...node.body, ...node.orelse], scope)
      return pushExpressions(walk, [node.test], scope)
    case 'With':
      for (const { context, target } of node.items)
        if (target) bindTarget(target, { kind: 'value', value: context, scope }, scope)
      push(walk, node.body, scope)
      return pushExpressions(
        walk,
        node.items.map(({ context }) => context),
        scope,
      )
    case 'Match':
      push(
        walk,
        node.cases.flatMap(({ body }) => body),
        scope,
      )
      return pushExpressions(walk, [node.subject, ...node.cases.map(({ guard }) => guard)], scope)
    case 'Try':
      push(walk, [...node.body, ...node.handlers.flatMap(({ body }) => body)], scope)
      return push(walk, [...node.orelse, ...node.finalbody], scope)
    case 'Raise':
      return pushExpressions(walk, [node.exception, node.cause], scope)
    case 'Assert':
      return pushExpressions(walk, [node.test, node.message], scope)
    case 'Delete':
      return pushExpressions(walk, node.targets, scope)
    default:
      return undefined
  }
}

const walkFunction = (walk: Walk, node: FunctionDef, scope: Scope): void => {
  const isMethod = scope.kind === 'class' && !isStatic(node)
  const first = [...node.args.positionalOnly, ...node.args.positional][0]?.name
  const own = newScope(walk, 'function', scope, isMethod ? first : undefined)
  bindName(scope, node.name, { kind: 'function', scope: own })
  bindParameters(node.args, own, scope)
  push(walk, node.body, own)
  pushExpressions(walk, [...node.decorators, ...defaultsOf(node.args)], scope)
}

const isStatic = (node: FunctionDef): boolean =>
  node.decorators.some((decorator) => decorator.kind === 'Name' && decorator.id === 'staticmethod')

const walkClass = (walk: Walk, node: ClassDef, scope: Scope): void => {
  const own = newScope(walk, 'class', scope)
  bindName(scope, node.name, { kind: 'class', scope: own })
  push(walk, node.body, own)
  pushExpressions(
    walk,
    [...node.decorators, ...node.bases, ...node.keywords.map(({ value }) => value)],
    scope,
  )
}

const parametersOf = (args: Arguments): Parameter[] => [
  ...args.positionalOnly,
  ...args.positional,
  ...args.keywordOnly,
]

const defaultsOf = (args: Arguments): (Expression | undefined)[] =>
  parametersOf(args).map((parameter) => parameter.default)

const bindParameters = (args: Arguments, own: Scope, outside: Scope): void => {
  for (const parameter of parametersOf(args))
    bind(own.names, parameter.name, {
      kind: 'parameter',
      value: parameter.default,
      scope: outside,
    })
  for (const rest of [args.varargs, args.kwargs])
    if (rest) bind(own.names, rest.name, { kind: 'unknown' })
}

const functionOf = (scope: Scope): Scope | undefined => {
  let at: Scope | undefined = scope
  while (at && at.kind !== 'function') at = at.parent
  return at
}

const walkExpression = (walk: Walk, node: Expression, scope: Scope): void => {
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
      note(walk, node, scope)
  }
  pushExpressions(walk, partsOf(node), scope)
}

const isText = (node: Expression): boolean =>
  node.kind === 'Constant' || node.kind === 'Bytes' || node.kind === 'JoinedStr'

const note = (walk: Walk, node: Expression, scope: Scope): void => {
  if (node.kind === 'Call') walk.calls.push({ call: node, scope })
  else if (node.kind === 'Dict') walk.dicts.push({ node, scope })
  else {
    walk.texts.push(...textSites(node))
    noteLong(walk, node)
  }
}

const noteLong = (walk: Walk, node: Expression): void => {
  walk.longTexts.push(...textSites(node).filter(({ text }) => text.length > LONG))
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
