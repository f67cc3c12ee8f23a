import { execute } from './statement.ts'
import { evaluateArguments } from '../evaluate/call-expression.ts'
import { decorate, evaluateDecorators } from '../evaluate/decorator.ts'
import { docstringOf } from './docstring.ts'
import { CLASS_CELL, makeClass } from '../operate/make-class.ts'
import { qualify } from '../evaluate/make-function.ts'
import { makeInstance } from '../values/make-value.ts'
import { bindName } from '../evaluate/name.ts'
import type { Runtime } from '../runtime.ts'
import type { Scope } from '../values/scope.ts'
import type { ClassValue, Value } from '../values/value.ts'
import type { ClassDef } from '../../python/ast.ts'

export function executeClass(rt: Runtime, node: ClassDef, scope: Scope): undefined {
  const decorators = evaluateDecorators(rt, node.decorators, scope)
  const { args, kwargs } = evaluateArguments(
    rt,
    { args: node.bases, keywords: node.keywords },
    scope,
  )
  const namespace = runClassBody(rt, node, scope)
  const cls = makeClass(rt, node.name, args, namespace, { kwargs })
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
  runIn(rt, node, {
    kind: 'class',
    names,
    parent: scope.kind === 'class' ? scope.parent : scope,
    module: scope.module,
    declared: undefined,
    frame: scope.frame,
    owner,
  })
  names.set(CLASS_CELL, makeInstance(rt.builtinClass('object'), undefined, owner))
  return names
}

function runIn(rt: Runtime, node: ClassDef, inner: Scope): void {
  const { state } = rt
  const around = state.scope
  state.scope = inner
  try {
    execute(rt, node.body, inner)
  } finally {
    state.scope = around
  }
}
