import { pythonModule } from './python-module.ts'
import { evaluateAnnotation } from '../evaluate/expression.ts'
import { findAttribute, listAttributes } from '../operate/attribute.ts'
import type { NativeCall, Runtime, Value } from '../types.ts'
import { isFunction, isModule, isUnknown } from '../values/read-value.ts'
import { makeList, makeTuple } from '../values/make-value.ts'
import { nativeFunction } from '../values/native.ts'
import type { Expression } from '../../python/ast.ts'

/** Names and values, sorted by name. */
const getmembers: NativeCall = (rt, [object]) => {
  const names = object === undefined ? undefined : listAttributes(rt, object)
  if (object === undefined || names === undefined) return undefined
  rt.budget.step(names.length)
  const members = names.flatMap((name) => {
    const value = memberOf(rt, object, name)
    return value === undefined ? [] : [makeTuple([name, value])]
  })
  return makeList(members, isModule(object) && !object.complete)
}

const memberOf = (rt: Runtime, object: Value, name: string): Value | undefined => {
  if (isModule(object)) return object.namespace.get(name)
  return findAttribute(rt, object, name)
}

const iscoroutinefunction: NativeCall = (_rt, [value]) => {
  if (value === undefined || isUnknown(value)) return undefined
  return isFunction(value) && value.node.kind === 'FunctionDef' && value.node.isAsync
}

/**
 * Parameters of a function as tuples: name, number of kind, default and annotation, each of the two in a tuple of its own
 * that is empty without one. The last tuple has the annotation of the result.
 */
const parameters: NativeCall = (rt, [fn]) => {
  if (!isFunction(fn)) return undefined
  const { args } = fn.node
  const returns = fn.node.kind === 'Lambda' ? undefined : fn.node.returns
  const annotationOf = (node: Expression | undefined): Value =>
    makeTuple(node ? [evaluateAnnotation(rt, node, fn.scope)] : [])
  const kinds = [args.positionalOnly, args.positional, args.varargs, args.keywordOnly, args.kwargs]
  const rows = kinds.flatMap((list, kind) =>
    [list ?? []].flat().map(({ name, annotation }) => {
      const value = fn.defaults.get(name)
      const given = makeTuple(value === undefined ? [] : [value])
      return makeTuple([name, BigInt(kind), given, annotationOf(annotation)])
    }),
  )
  return makeList([...rows, annotationOf(returns)])
}

/** Names of the functions that are running, the innermost first; what called the host's own is unknown. */
const callers: NativeCall = (rt) => {
  const names: string[] = []
  let { scope } = rt.state
  for (; scope.frame; scope = scope.frame.caller)
    if (scope.module.home === 'pack') names.push(scope.frame.function.name)
  // Where no module of the pack is running, the host lists the node.
  return makeList([...names, ...(scope.module.file === '' ? HOST_FRAMES : ['<module>'])], true)
}

const HOST_FRAMES = ['node_info', 'get_object_info']

/** `inspect`: kinds and members of objects. */
export const makeInspect = pythonModule('inspect', {
  attributes: {
    _members: nativeFunction('inspect.getmembers', getmembers),
    _parameters: nativeFunction('inspect.signature', parameters),
    _callers: nativeFunction('inspect.stack', callers),
  },
  functions: { iscoroutinefunction },
})
