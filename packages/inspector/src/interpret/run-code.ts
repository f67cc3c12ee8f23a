import type { Code } from './code.ts'
import type { Runtime, Value } from './types.ts'
import { NO_KWARGS } from './values/make-value.ts'

/** The functions of `Code`, for whoever may not import what they are: see there. */
export const call = (rt: Runtime, callee: Value, args: Value[], kwargs = NO_KWARGS): Value =>
  rt.code.callWith(rt, callee, { args, kwargs, rest: false })

export const callWith: Code['callWith'] = (rt, callee, call) => rt.code.callWith(rt, callee, call)

export const callMethod: Code['callMethod'] = (rt, value, name, args, kwargs) =>
  rt.code.callMethod(rt, value, name, args, kwargs)

export const callSpecial: Code['callSpecial'] = (rt, value, name, args) =>
  rt.code.callSpecial(rt, value, name, args)

export const evaluate: Code['evaluate'] = (rt, node, scope) => rt.code.evaluate(rt, node, scope)

export const evaluateSafely: Code['evaluateSafely'] = (rt, node, scope) =>
  rt.code.evaluateSafely(rt, node, scope)

export const evaluateAwait: Code['evaluateAwait'] = (rt, value) => rt.code.evaluateAwait(rt, value)

export const evaluateAnnotation: Code['evaluateAnnotation'] = (rt, node, scope) =>
  rt.code.evaluateAnnotation(rt, node, scope)

export const assignTarget: Code['assignTarget'] = (rt, target, value, scope) =>
  rt.code.assignTarget(rt, target, value, scope)

export const execute: Code['execute'] = (rt, body, scope) => rt.code.execute(rt, body, scope)

export const executeStatement: Code['executeStatement'] = (rt, node, scope) =>
  rt.code.executeStatement(rt, node, scope)

export const findModule: Code['findModule'] = (rt, name) => rt.code.findModule(rt, name)

export const importModule: Code['importModule'] = (rt, name) => rt.code.importModule(rt, name)
