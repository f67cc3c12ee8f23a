import type { ClassDef, Expression, FunctionDef, Statement } from '../../python/ast.ts'
import { bindImport, bindImportFrom, bindTarget } from './bind-target.ts'
import { bindParameters, defaultsOf } from './parameters.ts'
import { bindName, type Scope } from './scope.ts'
import { isText, recordCall, recordLong } from './walk-expression.ts'
import { functionOf, newScope, push, pushExpressions, type Walk } from './walk.ts'

/** Bodies are pushed before heads, so that heads come off the stack first. */
export const walkStatement = (walk: Walk, node: Statement, scope: Scope): void => {
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
        ? recordLong(walk, node.value)
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
  bindDecorated(walk, node, scope)
  bindParameters(node.args, own, scope)
  push(walk, node.body, own)
  pushExpressions(walk, [...node.decorators, ...defaultsOf(node.args)], scope)
}

/** A decorator is a call of what it decorates, and the name stands for what that gives. */
const bindDecorated = (walk: Walk, node: FunctionDef | ClassDef, scope: Scope): void => {
  let value: Expression = { kind: 'Constant', value: null, line: node.line }
  for (const func of node.decorators.toReversed()) {
    value = { kind: 'Call', func, args: [value], keywords: [], line: func.line }
    recordCall(walk, value, scope)
  }
  if (value.kind === 'Call') bindName(scope, node.name, { kind: 'value', value, scope })
}

const isStatic = (node: FunctionDef): boolean =>
  node.decorators.some((decorator) => decorator.kind === 'Name' && decorator.id === 'staticmethod')

const walkClass = (walk: Walk, node: ClassDef, scope: Scope): void => {
  const own = newScope(walk, 'class', scope)
  own.bases.push(...node.bases)
  bindName(scope, node.name, { kind: 'class', scope: own })
  bindDecorated(walk, node, scope)
  push(walk, node.body, own)
  pushExpressions(
    walk,
    [...node.decorators, ...node.bases, ...node.keywords.map(({ value }) => value)],
    scope,
  )
}
