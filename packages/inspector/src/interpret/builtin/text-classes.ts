import { intOf, isBytes, isDict, payloadOf, textOf } from '../values/read-value.ts'
import { readItems } from '../operate/iterate.ts'
import { strOf } from '../operate/text-of.ts'
import { makeDict } from '../operate/mapping.ts'
import { operatorMethods, SEQUENCE_METHODS } from './payload-methods.ts'
import { TEXT_METHODS } from './text-methods.ts'
import { makeBytes, orElse } from '../values/make-value.ts'
import type { Kwargs, Runtime, Value } from '../types.ts'
import { makeTranslation } from '../text/string/build.ts'
import { decode, encode } from '../text/string/codec.ts'
import { startsWith } from '../text/string/find.ts'
import type { Definition } from '../values/native.ts'
import { wrap } from './number-classes.ts'

export const STR: Definition = {
  name: 'str',
  payload: 'str',
  construct: (rt, cls, args, kwargs) => wrap(rt, cls, textFrom(rt, args, kwargs)),
  methods: {
    ...SEQUENCE_METHODS,
    ...operatorMethods({ add: '+', mul: '*', mod: '%' }),
    ...TEXT_METHODS,
  },
  staticMethods: {
    maketrans: (rt, [from, to, remove]) => {
      if (isDict(from)) return from
      const [a, b] = [textOf(from), textOf(to)]
      if (a === undefined || b === undefined) return undefined
      const table = makeTranslation(a, b, textOf(remove) ?? '')
      return (
        table &&
        makeDict(
          rt,
          [...table].map(([code, text]) => [BigInt(code), text]),
        )
      )
    },
  },
}

function textFrom(rt: Runtime, args: readonly Value[], kwargs: Kwargs): Value | undefined {
  const value = orElse(args[0], () => kwargs.get('object'))
  if (value === undefined) return ''
  const inner = payloadOf(value)
  const encoding = textOf(args[1] ?? kwargs.get('encoding'))
  if (isBytes(inner) && encoding !== undefined) return decode(inner.data, encoding)
  return strOf(rt, value)
}

export const BYTES: Definition = {
  name: 'bytes',
  payload: 'bytes',
  construct: (rt, cls, args, kwargs) => wrap(rt, cls, bytesFrom(rt, args, kwargs)),
  methods: {
    ...SEQUENCE_METHODS,
    ...operatorMethods({ add: '+' }),
    decode: (_, [self, encoding], kwargs) => {
      const data = dataOf(self)
      const name = encoding ?? kwargs.get('encoding') ?? 'utf-8'
      return data && typeof name === 'string' ? decode(data, name) : undefined
    },
    hex: (_, [self]) => {
      const data = dataOf(self)
      return data && Buffer.from(data).toString('hex')
    },
    startswith: (_, [self, prefix]) => {
      const [data, start] = [dataOf(self), dataOf(prefix)]
      if (!data || !start) return undefined
      return startsWith(Buffer.from(data).toString('latin1'), [
        Buffer.from(start).toString('latin1'),
      ])
    },
  },
  staticMethods: {
    fromhex: (_, [text]) => {
      const hex = textOf(text)?.replaceAll(/\s/g, '')
      if (hex === undefined || !/^([0-9a-fA-F]{2})*$/.test(hex)) return undefined
      return makeBytes(new Uint8Array(Buffer.from(hex, 'hex')))
    },
  },
}

function dataOf(value: Value | undefined): Uint8Array | undefined {
  const inner = payloadOf(value ?? null)
  return isBytes(inner) ? inner.data : undefined
}

function bytesFrom(rt: Runtime, args: readonly Value[], kwargs: Kwargs): Value | undefined {
  const [value] = args
  if (value === undefined) return makeBytes(new Uint8Array())
  const inner = payloadOf(value)
  if (isBytes(inner)) return inner
  if (typeof inner === 'string') {
    const encoded = encode(inner, textOf(args[1] ?? kwargs.get('encoding')) ?? 'utf-8')
    return encoded && makeBytes(encoded)
  }
  const size = intOf(inner)
  if (size !== undefined)
    return size < 0n || size > rt.budget.limits.stringLength
      ? undefined
      : makeBytes(new Uint8Array(Number(size)))
  const { items, rest } = readItems(rt, value)
  const numbers = items.map((item) => intOf(item))
  if (rest || numbers.some((item) => item === undefined || item < 0n || item > 255n))
    return undefined
  return makeBytes(Uint8Array.from(numbers, Number))
}
