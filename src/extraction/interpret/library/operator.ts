import { textOf } from '../values/payload.ts'
import { getAttribute } from '../operate/attribute.ts'
import { truthOf } from '../operate/truth.ts'
import { less } from '../operate/order.ts'
import { equals, identical } from '../operate/compare.ts'
import { binary } from '../operate/operator.ts'
import { getItem } from '../operate/item.ts'
import { makeInstance, makeTuple } from '../values/make-value.ts'
import { nativeClass, nativeModule } from '../values/native.ts'
import type { Runtime } from '../runtime.ts'
import type { ClassValue, ModuleValue, NativeCall, Truth, Value } from '../values/value.ts'
import { functionsOf } from './support/names.ts'
import { nativeState } from './support/native-state.ts'

/** `operator`. */
export const makeOperator = (rt: Runtime): ModuleValue =>
  nativeModule('operator', [
    ['itemgetter', makeGetter(rt, 'itemgetter', (rt, value, key) => getItem(rt, value, key))],
    ['attrgetter', makeGetter(rt, 'attrgetter', getDotted)],
    ...functionsOf('operator', { ...binaryFunctions(), ...FUNCTIONS }),
  ])

const OPERATORS = {
  add: '+',
  sub: '-',
  mul: '*',
  truediv: '/',
  floordiv: '//',
  mod: '%',
  pow: '**',
  and_: '&',
  or_: '|',
  xor: '^',
  lshift: '<<',
  rshift: '>>',
} as const

const binaryFunctions = (): Record<string, NativeCall> =>
  Object.fromEntries(
    Object.entries(OPERATORS).map(([name, sign]) => [
      name,
      (rt, [a, b]) => (a === undefined || b === undefined ? undefined : binary(rt, sign, a, b)),
    ]),
  )

const comparing =
  (holds: (rt: Runtime, a: Value, b: Value) => Truth): NativeCall =>
  (rt, [a, b]) =>
    a === undefined || b === undefined ? undefined : holds(rt, a, b)

const opposite = (truth: Truth): Truth => (truth === undefined ? undefined : !truth)

const FUNCTIONS: Record<string, NativeCall> = {
  eq: comparing((rt, a, b) => equals(rt, a, b)),
  ne: comparing((rt, a, b) => opposite(equals(rt, a, b))),
  lt: comparing((rt, a, b) => less(rt, a, b)),
  gt: comparing((rt, a, b) => less(rt, b, a)),
  is_: comparing((rt, a, b) => identical(rt, a, b)),
  is_not: comparing((rt, a, b) => opposite(identical(rt, a, b))),
  truth: (rt, [value]) => (value === undefined ? undefined : truthOf(rt, value)),
  not_: (rt, [value]) => (value === undefined ? undefined : opposite(truthOf(rt, value))),
  getitem: (rt, [value, key]) =>
    value === undefined || key === undefined ? undefined : getItem(rt, value, key),
}

type Get = (rt: Runtime, value: Value, key: Value) => Value | undefined

/** `attrgetter('a.b')`. */
const getDotted: Get = (rt, value, key) => {
  let at: Value = value
  for (const name of textOf(key)?.split('.') ?? []) at = getAttribute(rt, at, name)
  return textOf(key) === undefined ? undefined : at
}

const KEYS = nativeState<Value[]>('operator.itemgetter')
/** One key gives its value, several a tuple. */
const makeGetter = (rt: Runtime, name: string, get: Get): ClassValue =>
  nativeClass(rt, {
    name,
    module: 'operator',
    construct: (_rt, cls, keys) => makeInstance(cls, undefined, KEYS.wrap(keys)),
    methods: {
      __init__: () => null,
      __call__: (rt, [self, value]) => {
        const keys = KEYS.of(self)
        if (keys === undefined || value === undefined) return undefined
        const found = keys.map((key) => get(rt, value, key))
        if (!found.every((item) => item !== undefined)) return undefined
        return found.length === 1 ? found[0] : makeTuple(found)
      },
    },
  })
