import { makeDict } from '../interpret/operate/mapping.ts'
import { makeList, makeTuple } from '../interpret/values/make-value.ts'
import type { Runtime } from '../interpret/runtime.ts'
import type { Value } from '../interpret/values/value.ts'
import type { Fact } from './facts.ts'

/** A list, and everything in it, as Python has it. */
const decodeFact = (rt: Runtime, fact: Fact): Value => {
  if (typeof fact === 'number') return Number.isInteger(fact) ? BigInt(fact) : fact
  if (fact === null || typeof fact !== 'object') return fact
  if (Array.isArray(fact)) return makeList(fact.map((item) => decodeFact(rt, item)))
  const { rest } = fact
  const decode = (item: Fact): Value => decodeFact(rt, item)
  if (Array.isArray(rest)) return makeList(rest.map(decode), true)
  return decodeDict(fact, decode, rt)
}

/** The dict that `INPUT_TYPES` of a class of the host gives, a new one each time: packs add to it. */
export const decodeInputTypes = (rt: Runtime, sections: Fact): Value =>
  decodeDict(sections, (section) => decodeDict(section, (spec) => decodeSpec(rt, spec), rt), rt)

const decodeDict = (fact: Fact, decode: (value: Fact) => Value, rt: Runtime): Value =>
  makeDict(
    rt,
    Object.entries(fact ?? {}).map(([key, value]) => [key, decode(value)] as const),
  )

/** `("FLOAT", {...})`, a type with its options; hidden inputs are mostly just a type. */
const decodeSpec = (rt: Runtime, spec: Fact): Value => {
  if (!Array.isArray(spec)) return decodeFact(rt, spec)
  const isFloat = spec[0] === 'FLOAT'
  return makeTuple(spec.map((part) => (isFloat ? decodeFloats(rt, part) : decodeFact(rt, part))))
}

/** JSON does not tell `1.0` from `1`. */
const decodeFloats = (rt: Runtime, options: Fact): Value => {
  if (options === null || typeof options !== 'object' || Array.isArray(options))
    return decodeFact(rt, options)
  return decodeDict(
    options,
    (value) => (typeof value === 'number' ? value : decodeFact(rt, value)),
    rt,
  )
}
