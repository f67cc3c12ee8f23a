import { textOf } from '../values/payload.ts'
import { isDict, isInstanceValue } from '../values/guards.ts'
import { makeInstance, makeItemsIterator, NOT_IMPLEMENTED } from '../values/make-value.ts'
import type { Runtime } from '../runtime.ts'
import type { ClassValue, InstanceValue, NativeCall, Value } from '../values/value.ts'

/** Whether members of the class are sets of bits. */
export const isFlagClass = (cls: ClassValue): boolean =>
  cls.mro.some((base) => base.kind === 'class' && base.home === 'library' && base.name === 'Flag')

/** The member with those bits, or a new value that combines members. */
export const makeFlag = (_rt: Runtime, cls: ClassValue, bits: bigint): Value => {
  const members = flagsOf(cls)
  const known = members.find((member) => bitsOf(member) === bits)
  if (known !== undefined) return known
  const parts = partsOf(cls, bits)
  const flag = makeInstance(cls, cls.payload === undefined ? undefined : bits)
  const names = parts.map((part) => textOf(part.attributes.get('_name_')) ?? '')
  const named = parts.reduce((sum, part) => sum | (bitsOf(part) ?? 0n), 0n)
  // Bits without a member are named by their number.
  if ((bits & ~named) !== 0n) names.push(String(bits & ~named))
  flag.attributes.set('_value_', bits)
  flag.attributes.set('_name_', names.length === 0 ? null : names.join('|'))
  return flag
}

const flagsOf = (cls: ClassValue): InstanceValue[] => {
  const members = cls.namespace.get('_member_map_')
  return isDict(members) ? [...members.values.values()].filter(isInstanceValue) : []
}

/** Members of one bit that are in the bits. */
const partsOf = (cls: ClassValue, bits: bigint): InstanceValue[] =>
  flagsOf(cls).filter((member) => {
    const own = bitsOf(member) ?? 0n
    return own > 0n && (own & (own - 1n)) === 0n && (bits & own) === own
  })

const bitsOf = (value: Value | undefined): bigint | undefined => {
  const bits = isInstanceValue(value) ? value.attributes.get('_value_') : value
  return typeof bits === 'bigint' ? bits : undefined
}

const combining =
  (combine: (a: bigint, b: bigint) => bigint): NativeCall =>
  (rt, [self, other]) => {
    const [a, b] = [bitsOf(self), bitsOf(other)]
    if (!isInstanceValue(self) || a === undefined || b === undefined) return NOT_IMPLEMENTED
    return makeFlag(rt, self.cls, combine(a, b))
  }

const or = combining((a, b) => a | b)
const and = combining((a, b) => a & b)
const xor = combining((a, b) => a ^ b)

export const FLAG_METHODS: Record<string, NativeCall> = {
  __or__: or,
  __ror__: or,
  __and__: and,
  __rand__: and,
  __xor__: xor,
  __rxor__: xor,
  __invert__: (rt, [self]) => {
    const bits = bitsOf(self)
    if (!isInstanceValue(self) || bits === undefined) return undefined
    const all = flagsOf(self.cls).reduce((sum, member) => sum | (bitsOf(member) ?? 0n), 0n)
    return makeFlag(rt, self.cls, all & ~bits)
  },
  __contains__: (_rt, [self, other]) => {
    const [a, b] = [bitsOf(self), bitsOf(other)]
    return a === undefined || b === undefined ? undefined : (a & b) === b
  },
  __bool__: (_rt, [self]) => {
    const bits = bitsOf(self)
    return bits === undefined ? undefined : bits !== 0n
  },
  __iter__: (_rt, [self]) => {
    const bits = bitsOf(self)
    if (!isInstanceValue(self) || bits === undefined) return undefined
    return makeItemsIterator('generator', partsOf(self.cls, bits))
  },
}
