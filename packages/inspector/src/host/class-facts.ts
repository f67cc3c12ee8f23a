import { makeList, makeTuple } from '../interpret/values/make-value.ts'
import { nativeFunction } from '../interpret/values/native.ts'
import type { Runtime, UnknownValue, Value } from '../interpret/types.ts'
import { words } from '../words.ts'
import { FACTS, type Fact } from './facts.ts'
import { makeDict } from '../interpret/operate/mapping.ts'

/** The file of facts has these attributes of every class that has them. */
const RECORDED = new Set(
  words(`
    INPUT_TYPES RETURN_TYPES RETURN_NAMES FUNCTION CATEGORY DESCRIPTION OUTPUT_NODE
    OUTPUT_IS_LIST INPUT_IS_LIST DEPRECATED EXPERIMENTAL`),
)

/** An attribute of a node class of the host: `nodes.SaveImage.CATEGORY`. */
export const findClassFact = (dottedName: string): Value | undefined => {
  const { cls, attribute } = splitLast(dottedName)
  const facts = ownEntry(FACTS.classes.values, cls)
  if (facts && attribute === '__name__') return splitLast(cls).attribute
  const fact = facts && ownEntry(facts, attribute)
  if (fact === undefined) return undefined
  if (attribute === 'INPUT_TYPES')
    return nativeFunction(dottedName, (rt) => decodeInputTypes(rt, fact))
  return decodeAttribute(fact)
}

/** True when a class of the host certainly has no such attribute. */
export const lacksAttribute = (dottedName: string): boolean => {
  const { cls, attribute } = splitLast(dottedName)
  const facts = RECORDED.has(attribute) ? ownEntry(FACTS.classes.values, cls) : undefined
  return facts !== undefined && !Object.hasOwn(facts, attribute)
}

/** Texts and flags, and tuples of them. */
const decodeAttribute = (fact: Fact): Value | undefined => {
  if (Array.isArray(fact)) {
    const items = fact.map(decodeAttribute)
    return items.includes(undefined) ? undefined : makeTuple(items as Value[])
  }
  return typeof fact === 'object' || typeof fact === 'number' ? undefined : fact
}

const splitLast = (dottedName: string): { cls: string; attribute: string } => {
  const dot = dottedName.lastIndexOf('.')
  return { cls: dottedName.slice(0, Math.max(dot, 0)), attribute: dottedName.slice(dot + 1) }
}

/** Names come from packs: `constructor` must not be found. */
export const ownEntry = <T>(table: Record<string, T>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined

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
const decodeInputTypes = (rt: Runtime, sections: Fact): Value =>
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

/** The text of a member of one of `io`'s enumerations: `io.NumberDisplay.slider`, also with `.value`. */
export const findHostText = ({ name }: UnknownValue): string | undefined => {
  const [, enumeration = '', member = ''] = MEMBER.exec(name) ?? []
  const members = ownEntry(FACTS.v3.enums, enumeration)
  return members && ownEntry(members, member)
}

/** The name of such a member. */
export const findMemberName = ({ name }: UnknownValue): string | undefined => MEMBER.exec(name)?.[2]

const MEMBER = /(?:^|\.)(\w+)\.(\w+?)(?:\.value)?$/

/** The socket type of a type of `io` by its name there. */
export const socketTypeNamed = (name: string): string =>
  ownEntry(FACTS.v3.socketTypes, name) ??
  ownEntry(FACTS.v3.newerSocketTypes, name) ??
  name.toUpperCase()
