import { Type, type TObject, type TSchema } from 'typebox'
import { Value } from 'typebox/value'

/** Members that schemas of several areas have in common. Lengths are code points. */

export const NAME_MAX = 128
export const DESCRIPTION_MAX = 1_000
/** Longest reason for a status. */
export const REASON_MAX = 2_000

/** Page numbers stay in 32 bits, so that PostgreSQL and JSON can both express every offset. */
const PAGE_MAX = 2_147_483_647

export const text = (maxLength: number, description: string) =>
  Type.String({ maxLength, description })

/** A reason that must be given. */
export const reason = (description: string) =>
  Type.String({ minLength: 1, maxLength: REASON_MAX, description })

export const uuid = (description: string) => Type.String({ format: 'uuid', description })

export const instant = (description: string) => Type.String({ format: 'date-time', description })

export const count = (description: string) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description })

/** A list of at most `most` texts of at most `longest` code points each. */
export const texts = (max: number, longest: number, description: string) =>
  Type.Array(Type.String({ maxLength: longest }), {
    maxItems: max,
    description,
    'x-expectation': `a list of at most ${max} strings`,
  })

/** A JSON object whose members have names of the caller's choice. */
export const map = <Member>(member: TSchema, options: Record<string, unknown>) =>
  Type.Unsafe<Record<string, Member>>({ type: 'object', additionalProperties: member, ...options })

/** No text in PostgreSQL can hold NUL. Bodies are read without it. */
export const WITHOUT_NUL = '^[^\\u0000]*$'

export const queryText = (maxLength: number, description?: string) =>
  Type.String({
    maxLength,
    pattern: WITHOUT_NUL,
    ...(description === undefined ? {} : { description }),
    'x-expectation': `a string of at most ${maxLength} characters without NUL`,
  })

export const page = () =>
  Type.Integer({
    minimum: 0,
    maximum: PAGE_MAX,
    default: 1,
    description: 'Page, from 1; 0 is the first page, too.',
  })

export const pageSize = (usual: number, maximum: number) =>
  Type.Integer({ minimum: 1, maximum, default: usual, description: 'Entries a page.' })

/** Pages that `total` entries fill; 0 when there are none. */
export const totalPages = (total: number, size: number): number => Math.ceil(total / size)

/**
 * The optional members, at every depth, whose schemas reject an empty text. Every optional member takes `""`; in these
 * it counts as absent. For a body's `emptyIsAbsent`.
 */
export const listEmptyIsAbsent = (schema: TSchema): string[] => {
  const { properties = {}, required = [], additionalProperties } = schema as Members
  const own = Object.entries(properties).flatMap(([name, member]) => [
    ...(required.includes(name) || Value.Check(member, '') ? [] : [name]),
    ...listEmptyIsAbsent(member),
  ])
  return [
    ...new Set([...own, ...(additionalProperties ? listEmptyIsAbsent(additionalProperties) : [])]),
  ]
}

interface Members {
  properties?: Record<string, TSchema>
  required?: readonly string[]
  additionalProperties?: TSchema
}

/** The optional names of a query: an empty text is no filter. */
export const listOptional = (schema: TObject): string[] => {
  const required: readonly string[] = schema.required ?? []
  return Object.keys(schema.properties).filter((name) => !required.includes(name))
}

/** Optional members of a body, by their names. */
export type FurtherMembers = Readonly<Record<string, TSchema>>

export const NO_MEMBERS: FurtherMembers = {}

/** Adds members to the schema of a body. */
export const addMembers = (schema: TSchema, members: FurtherMembers = NO_MEMBERS): TSchema => {
  if (members === NO_MEMBERS) return schema
  const { type: _, properties, ...rules } = schema as TObject
  // Its own first, and as they are.
  return Type.Object({ ...properties, ...members, ...properties }, rules)
}
