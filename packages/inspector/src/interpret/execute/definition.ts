import { execute } from '../run-code.ts'
import { withState } from '../with-state.ts'
import { evaluateArguments } from '../evaluate/call-expression.ts'
import { evaluateSafely } from '../evaluate/expression.ts'
import { docstringOf, makeFunction, qualify } from '../evaluate/make-function.ts'
import { bindName, closureScope } from '../evaluate/name.ts'
import { call } from '../operate/call.ts'
import { giveToDecorator, openGlobals } from '../operate/give-away.ts'
import { CLASS_CELL, makeClass } from '../operate/make-class.ts'
import type { ClassValue, Runtime, Scope, Value } from '../types.ts'
import { makeOneOf } from '../values/merge-values.ts'
import { isFunction, isUnknown } from '../values/read-value.ts'
import { makeInstance, makeUnknown } from '../values/make-value.ts'
import type { ClassDef, Expression, FunctionDef } from '../../python/ast.ts'

export function executeClass(rt: Runtime, node: ClassDef, scope: Scope): undefined {
  const decorators = evaluateDecorators(rt, node.decorators, scope)
  const { args, kwargs } = evaluateArguments(
    rt,
    { args: node.bases, keywords: node.keywords },
    typeScope(node, scope),
  )
  const namespace = runClassBody(rt, node, scope)
  const cls = makeClass(rt, node.name, args, namespace, kwargs)
  for (const decorator of decorators) giveToDecorator(rt, decorator, cls)
  bindName(scope, node.name, decorate(rt, decorators, cls))
}

function runClassBody(rt: Runtime, node: ClassDef, scope: Scope): Map<string, Value> {
  const names = new Map<string, Value>([
    ['__module__', scope.module.namespace.get('__name__') ?? scope.module.name],
    ['__qualname__', qualify(scope, node.name)],
  ])
  const docstring = docstringOf(node.body)
  if (docstring !== undefined) names.set('__doc__', docstring)
  const owner: { cls: ClassValue | undefined } = { cls: undefined }
  const inner: Scope = {
    kind: 'class',
    names,
    parent: typeScope(node, closureScope(scope)),
    module: scope.module,
    declared: undefined,
    frame: scope.frame,
    owner,
  }
  withState(rt, { scope: inner }, () => execute(rt, node.body, inner))
  names.set(CLASS_CELL, makeInstance(rt.builtinClass('object'), undefined, owner))
  return names
}

export function executeFunction(rt: Runtime, node: FunctionDef, scope: Scope): undefined {
  const decorators = evaluateDecorators(rt, node.decorators, scope)
  const fn = makeFunction(rt, node, scope, node.name)
  fn.scope = typeScope(node, fn.scope)
  // A method waits for an instance, whoever decorates it.
  if (scope.kind !== 'class') for (const decorator of decorators) giveToDecorator(rt, decorator, fn)
  bindName(scope, node.name, decorate(rt, decorators, fn))
}

/** The scope with type parameters, of which nothing is known. */
function typeScope({ typeParameters }: ClassDef | FunctionDef, scope: Scope): Scope {
  if (!typeParameters) return scope
  const names = new Map(typeParameters.map((name) => [name, makeUnknown(name)]))
  return { ...scope, kind: 'comprehension', names, parent: scope, declared: undefined }
}

function evaluateDecorators(rt: Runtime, nodes: readonly Expression[], scope: Scope): Value[] {
  return nodes.map((node) => evaluateSafely(rt, node, scope))
}

/**
 * Applies the last one first. One that is unknown, or gives an unknown, leaves what it decorates. What the standard library
 * makes of a function may also be something else, and may have run it.
 */
function decorate(rt: Runtime, decorators: readonly Value[], value: Value): Value {
  let decorated = value
  for (const decorator of decorators.toReversed()) {
    const result = isUnknown(decorator)
      ? makeUnknown(`${decorator.name}()`, decorator.origin)
      : call(rt, decorator, [decorated])
    if (!isUnknown(result) || result.oneOf) decorated = result
    else if (result.origin === 'standard-library' && isFunction(decorated)) {
      openGlobals(decorated)
      decorated = makeOneOf([decorated, result])
    }
  }
  return decorated
}
