import { isObject } from '../domain/is-object.ts'
import { toPointer } from '../domain/pointer.ts'
import type { SchemaNode } from '../domain/validate.ts'
import { own } from './table.ts'

interface Part extends SchemaNode {
  anyOf?: Part[]
  allOf?: Part[]
}

/** A way from names of the interface to others, or back. */
export interface Way {
  /** The name of the interface that a name of the value stands for. */
  known(name: string): string
  /** Names in place of one that the schema rules; `isList` where it holds a list of objects. */
  put(name: string, place: { within: object; isList: boolean; at: string }): readonly string[]
  /** The word in place of one of an enumeration. */
  word(value: string): string
  /** JSON Pointer of the value. */
  at: string
}

/** Renames members and words of a value where a schema of the interface has them, and nothing that no schema rules. */
export const rename = (value: unknown, schemas: readonly SchemaNode[], way: Way): unknown => {
  const parts = schemas.flatMap(listParts)
  if (parts.length === 0) return value
  if (typeof value === 'string') return parts.some((part) => part.enum) ? way.word(value) : value
  if (Array.isArray(value)) {
    const items = pick(parts, (part) => part.items)
    return value.map((item, index) => rename(item, items, { ...way, at: `${way.at}/${index}` }))
  }
  // Where no object is ruled the value is a stand-in for a picture, which has to stay itself.
  if (!isObject(value) || !parts.some(isOfObject)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const ruled = pick(parts, ({ properties }) => own(properties, way.known(name)))
      const inner =
        ruled.length > 0
          ? ruled
          : pick(parts, ({ additionalProperties: rest }) => (isObject(rest) ? rest : undefined))
      const isList = pick(ruled.flatMap(listParts), (part) => part.items)
        .flatMap(listParts)
        .some(isOfObject)
      const at = way.at + toPointer([name])
      const names = ruled.length > 0 ? way.put(name, { within: value, isList, at }) : [name]
      return names.map((one) => [one, rename(member, inner, { ...way, at })])
    }),
  )
}

const listParts = (schema: Part): Part[] => [
  schema,
  ...[...(schema.anyOf ?? []), ...(schema.allOf ?? [])].flatMap(listParts),
]

const pick = (parts: readonly Part[], of: (part: Part) => SchemaNode | undefined): SchemaNode[] =>
  parts.map(of).filter((inner) => typeof inner === 'object')

const isOfObject = ({ properties, additionalProperties }: Part): boolean =>
  Boolean(properties ?? additionalProperties)
