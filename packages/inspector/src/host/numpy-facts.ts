import { makeInstance } from '../interpret/values/make-value.ts'
import { nativeFunction } from '../interpret/values/native.ts'
import { isClass, isUnknown } from '../interpret/values/guards.ts'
import type { NativeCall, Value } from '../interpret/values/value.ts'

/** Numbers that packs take from `numpy` for the limits of their inputs. */
export const findNumpyFact = (name: string): Value | undefined =>
  name === 'iinfo' ? nativeFunction('numpy.iinfo', iinfo) : CONSTANTS.get(name)

const CONSTANTS = new Map([
  ['pi', Math.PI],
  ['e', Math.E],
  ['inf', Infinity],
  ['nan', NaN],
])

/** Limits of a type of whole numbers: `np.int32`, `'int32'`, `int`. */
const iinfo: NativeCall = (rt, [type]) => {
  const [, unsigned, width] = INTEGER.exec(typeNameOf(type)) ?? []
  if (unsigned === undefined || width === undefined) return undefined
  const limits = makeInstance(rt.builtinClass('object'))
  const values = BigInt(2) ** BigInt(width)
  const min = unsigned === 'u' ? 0n : -values / 2n
  const numbers = { bits: BigInt(width), min, max: min + values - 1n }
  for (const [name, value] of Object.entries(numbers)) limits.attributes.set(name, value)
  return limits
}

const INTEGER = /^(?:numpy\.)?(u?)int(8|16|32|64)$/

const typeNameOf = (type: Value | undefined): string => {
  if (isUnknown(type)) return type.name
  if (isClass(type)) return type.name === 'int' ? 'int64' : ''
  return typeof type === 'string' ? type : ''
}
