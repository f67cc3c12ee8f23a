import { raiseIfCertain } from '../operate/raise.ts'
import { callSpecial } from '../operate/call.ts'
import { truthOf } from '../operate/truth.ts'
import { VALUE_METHODS } from './payload-methods.ts'
import { intOf, payloadOf } from '../values/read-value.ts'
import type { ClassValue, Kwargs, Runtime, Value } from '../types.ts'
import { toFloat, truncate } from '../text/number/number.ts'
import { parseFloatText, parseInteger } from '../text/number/parse.ts'
import type { Definition } from '../values/native.ts'
import { ifKnown, makeInstance } from '../values/make-value.ts'

export const INT: Definition = {
  name: 'int',
  payload: 'int',
  construct: (rt, cls, args, kwargs) => wrap(rt, cls, intFrom(rt, args, kwargs)),
  methods: {
    ...VALUE_METHODS,
    __int__: (_, [self]) => intOf(self),
    __index__: (_, [self]) => intOf(self),
    __bool__: (rt, [self]) => truthOf(rt, payloadOf(self ?? null)),
  },
  unread:
    'as_integer_ratio bit_count bit_length conjugate from_bytes is_integer to_bytes imag real numerator denominator',
}

function intFrom(rt: Runtime, args: readonly Value[], kwargs: Kwargs): Value | undefined {
  const [value] = args
  if (value === undefined) return 0n
  const base = args[1] ?? kwargs.get('base')
  const own = callSpecial(rt, value, '__int__', []) ?? callSpecial(rt, value, '__index__', [])
  if (own !== undefined) return own
  const inner = payloadOf(value)
  if (typeof inner === 'string') return intFromText(rt, inner, base)
  if (typeof inner === 'number') return truncate(inner)
  return intOf(inner)
}

/** Text with digits of other scripts is not read. */
const OTHER = /[^\0-\x7f]/

function intFromText(rt: Runtime, text: string, base: Value | undefined): Value | undefined {
  const isDecimal = base === undefined || intOf(base) === 10n
  if (!isDecimal || OTHER.test(text)) return undefined
  const parsed = parseInteger(text)
  return parsed ?? raiseIfCertain(rt, 'ValueError', 'invalid literal for int()')
}

export const BOOL: Definition = {
  name: 'bool',
  construct: (rt, _cls, [value]) => (value === undefined ? false : truthOf(rt, value)),
}

export const FLOAT: Definition = {
  name: 'float',
  payload: 'float',
  construct: (rt, cls, [value]) => wrap(rt, cls, floatFrom(rt, value)),
  methods: {
    ...VALUE_METHODS,
    __float__: (_, [self]) => payloadOf(self ?? null),
  },
  unread: 'as_integer_ratio conjugate from_number fromhex hex imag is_integer real',
}

function floatFrom(rt: Runtime, value: Value | undefined): Value | undefined {
  if (value === undefined) return 0
  const own = callSpecial(rt, value, '__float__', [])
  if (own !== undefined) return own
  const inner = payloadOf(value)
  if (typeof inner === 'string' && OTHER.test(inner)) return undefined
  if (typeof inner === 'string')
    return parseFloatText(inner) ?? raiseIfCertain(rt, 'ValueError', 'could not convert to float')
  if (typeof inner === 'number') return inner
  return ifKnown(intOf(inner), toFloat)
}

/** The value itself for the builtin class, an instance that holds it for a subclass. */
export function wrap(rt: Runtime, cls: ClassValue, value: Value | undefined): Value | undefined {
  if (value === undefined || cls.module === 'builtins') return value
  return rt.budget.allowItems(1) ? makeInstance(cls, value) : undefined
}
