import { makeTuple } from '../interpret/values/make-value.ts'
import { nativeFunction } from '../interpret/values/native.ts'
import type { Value } from '../interpret/values/value.ts'
import { words } from '../words.ts'
import { decodeInputTypes } from './decode.ts'
import { FACTS } from './facts.ts'
import type { Fact } from './facts.ts'

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
