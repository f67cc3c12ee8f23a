import { formatValue, reprOf, strOf } from '../operate/text-of.ts'
import { evaluate } from './expression.ts'
import { makeUnknown } from '../values/make-value.ts'
import type { Runtime } from '../runtime.ts'
import type { Scope } from '../values/scope.ts'
import { escapeNonAscii } from '../text/repr.ts'
import type { Value } from '../values/value.ts'
import type { FormattedValue, JoinedStr } from '../../python/ast.ts'

/** An f-string; unknown as soon as one of its parts is. */
export function evaluateFormatted(rt: Runtime, node: JoinedStr, scope: Scope): Value {
  let text = ''
  let known = true
  for (const part of node.values) {
    const piece = typeof part === 'string' ? part : evaluateField(rt, part, scope)
    if (piece === undefined) known = false
    else text += piece
  }
  if (!known || !rt.budget.allowString(text.length)) return makeUnknown('f-string')
  return text
}

function evaluateField(rt: Runtime, field: FormattedValue, scope: Scope): string | undefined {
  const value = evaluate(rt, field.value, scope)
  const spec = field.spec ? evaluateFormatted(rt, field.spec, scope) : ''
  if (typeof spec !== 'string') return undefined
  const converted = convert(rt, value, field.conversion)
  return converted === undefined ? undefined : formatValue(rt, converted, spec)
}

/** `!s`, `!r`, `!a`. */
export function convert(
  rt: Runtime,
  value: Value,
  conversion: 'r' | 's' | 'a' | undefined,
): Value | undefined {
  if (conversion === undefined) return value
  if (conversion === 's') return strOf(rt, value)
  const text = reprOf(rt, value)
  return conversion === 'r' || text === undefined ? text : escapeNonAscii(text)
}
