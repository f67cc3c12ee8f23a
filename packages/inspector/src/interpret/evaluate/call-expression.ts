import { evaluate } from '../run-code.ts'
import { evaluateItems } from './display.ts'
import { callWith } from '../operate/call.ts'
import { asDict } from '../operate/mapping.ts'
import type { CallArguments, Runtime, Scope, Value } from '../types.ts'
import { NO_KWARGS } from '../values/make-value.ts'
import type { Call, Keyword } from '../../python/ast.ts'

export function evaluateCall(rt: Runtime, node: Call, scope: Scope): Value {
  const callee = evaluate(rt, node.func, scope)
  return callWith(rt, callee, evaluateArguments(rt, node, scope))
}

/** Arguments of a call, also those of a class statement. */
export function evaluateArguments(
  rt: Runtime,
  node: { args: Call['args']; keywords: Keyword[] },
  scope: Scope,
): CallArguments {
  const { items, rest } = evaluateItems(rt, node.args, scope)
  if (node.keywords.length === 0) return { args: items, kwargs: NO_KWARGS, rest }
  const kwargs = new Map<string, Value>()
  let more = rest
  for (const { name, value } of node.keywords) {
    const given = evaluate(rt, value, scope)
    if (name === undefined) more = spread(rt, kwargs, given) || more
    else kwargs.set(name, given)
  }
  return { args: items, kwargs, rest: more }
}

/** Adds the entries of `**value`; true if there may be more. */
export function spread(rt: Runtime, kwargs: Map<string, Value>, value: Value): boolean {
  const dict = asDict(rt, value)
  if (dict === undefined) return true
  for (const [hash, entry] of dict.values) if (typeof hash === 'string') kwargs.set(hash, entry)
  return dict.rest
}
