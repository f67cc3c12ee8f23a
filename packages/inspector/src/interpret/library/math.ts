import { numberOf, payloadOf } from '../values/read-value.ts'
import { binary } from '../operate/operator.ts'
import { readItems } from '../operate/iterate.ts'
import { callsOf, functionsOf, nativeModule } from '../values/native.ts'
import { arithmetic } from '../text/number/arithmetic.ts'
import { ceil, copySign, floor } from '../text/number/float-arithmetic.ts'
import { capInt, toFloat, truncate } from '../text/number/number.ts'
import type { ModuleValue, NativeCall, Value } from '../types.ts'
import { ifKnown } from '../values/make-value.ts'

/** `math`: constants and functions of numbers. Results that no float holds are unknown. */
export const makeMath = (): ModuleValue =>
  nativeModule('math', [
    ['pi', Math.PI],
    ['e', Math.E],
    ['inf', Infinity],
    ['nan', NaN],
    ...functionsOf('math', { ...INT_FUNCTIONS, ...floatFunctions() }),
  ])

/** Functions of floats that differ from JavaScript's in their errors only. */
const UNARY: Record<string, (x: number) => number> = {
  sqrt: Math.sqrt,
  exp: Math.exp,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  asin: Math.asin,
  acos: Math.acos,
  atan: Math.atan,
  sinh: Math.sinh,
  cosh: Math.cosh,
  tanh: Math.tanh,
  log2: Math.log2,
  log10: Math.log10,
  log1p: Math.log1p,
  degrees: (x) => x * (180 / Math.PI),
  radians: (x) => x * (Math.PI / 180),
}

const BINARY: Record<string, (x: number, y: number) => number> = {
  atan2: Math.atan2,
  hypot: Math.hypot,
  copysign: copySign,
}

const floatOf = (value: Value | undefined): number | undefined => ifKnown(numberOf(value), toFloat)

/** Python raises where a finite argument gives no finite result. */
const finite = (result: number, ...args: number[]): number | undefined =>
  !Number.isFinite(result) && args.every(Number.isFinite) ? undefined : result

const floatFunctions = (): Record<string, NativeCall> => ({
  ...callsOf(
    UNARY,
    (call) =>
      (_rt, [value]) =>
        ifKnown(floatOf(value), (x) => finite(call(x), x)),
  ),
  ...callsOf(BINARY, (call) => (_rt, [a, b]) => {
    const [x, y] = [floatOf(a), floatOf(b)]
    return x === undefined || y === undefined ? undefined : finite(call(x, y), x, y)
  }),
  pow: (_rt, [a, b]) => {
    const [x, y] = [floatOf(a), floatOf(b)]
    return x === undefined || y === undefined ? undefined : arithmetic('**', x, y)
  },
  log: (_rt, [value, base]) => {
    const x = floatOf(value)
    if (x === undefined || x <= 0) return undefined
    if (base === undefined) return Math.log(x)
    const y = floatOf(base)
    return y === undefined || y <= 0 || y === 1 ? undefined : Math.log(x) / Math.log(y)
  },
  isnan: ofFloat(Number.isNaN),
  isinf: ofFloat((x) => Math.abs(x) === Infinity),
  isfinite: ofFloat(Number.isFinite),
  isclose: (_rt, [a, b], kwargs) => {
    const [x, y] = [floatOf(a), floatOf(b)]
    const relative = floatOf(kwargs.get('rel_tol') ?? 1e-9)
    const absolute = floatOf(kwargs.get('abs_tol') ?? 0)
    if (x === undefined || y === undefined) return undefined
    if (relative === undefined || absolute === undefined) return undefined
    const largest = Math.max(Math.abs(x), Math.abs(y))
    return x === y || Math.abs(x - y) <= Math.max(relative * largest, absolute)
  },
})

const ofFloat =
  (ask: (x: number) => boolean): NativeCall =>
  (_rt, [value]) =>
    ifKnown(floatOf(value), ask)

const ofNumber =
  (call: (x: bigint | number) => Value | undefined): NativeCall =>
  (_rt, [value]) =>
    ifKnown(numberOf(value), call)

const intsOf = (values: readonly Value[]): bigint[] | undefined => {
  const ints = values.map((value) => {
    const content = payloadOf(value)
    return typeof content === 'boolean' ? BigInt(content) : content
  })
  return ints.every((int) => typeof int === 'bigint') ? ints : undefined
}

const gcdOf = (a: bigint, b: bigint): bigint => {
  let [x, y] = [a < 0n ? -a : a, b < 0n ? -b : b]
  while (y > 0n) [x, y] = [y, x % y]
  return x
}

const INT_FUNCTIONS: Record<string, NativeCall> = {
  floor: ofNumber(floor),
  ceil: ofNumber(ceil),
  trunc: ofNumber((x) => (typeof x === 'bigint' ? x : truncate(x))),
  gcd: (_rt, args) => intsOf(args)?.reduce(gcdOf, 0n),
  lcm: (_rt, args) => {
    const ints = intsOf(args)
    if (ints === undefined) return undefined
    const lcm = ints.reduce((a, b) => (a === 0n || b === 0n ? 0n : (a / gcdOf(a, b)) * b), 1n)
    return capInt(lcm < 0n ? -lcm : lcm)
  },
  factorial: (_rt, args) => {
    const [count] = intsOf(args) ?? []
    if (count === undefined || count < 0n || count > 1000n) return undefined
    let product = 1n
    for (let factor = 2n; factor <= count; factor += 1n) product *= factor
    return product
  },
  isqrt: (_rt, args) => {
    const [value] = intsOf(args) ?? []
    return value === undefined || value < 0n ? undefined : isqrt(value)
  },
  prod: (rt, [values]) => {
    if (values === undefined) return undefined
    const { items, rest } = readItems(rt, values)
    return rest ? undefined : items.reduce((a, b) => binary(rt, '*', a, b), 1n)
  },
}

/** Newton's method, from above. */
const isqrt = (value: bigint): bigint => {
  if (value < 2n) return value
  let root = 1n << BigInt(Math.ceil(value.toString(2).length / 2))
  for (;;) {
    const next = (root + value / root) >> 1n
    if (next >= root) return root
    root = next
  }
}
