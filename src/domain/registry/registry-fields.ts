import { Type, type TObject, type TSchema } from 'typebox'
import { Value } from 'typebox/value'

import { inAnyCase } from '../shared/address.ts'

/** Members that several objects of the registry have in common. Lengths are code points. */

export const NAME_MAX = 128
export const DESCRIPTION_MAX = 1_000
export const URL_MAX = 2_048
/** Longest license, changelog, translations as JSON, and text of a host node. */
export const LONG_TEXT_MAX = 65_536
/** Longest reason for a status. */
export const REASON_MAX = 2_000

/** Page numbers stay in 32 bits, so that PostgreSQL and JSON can both express every offset. */
const PAGE_MAX = 2_147_483_647

export const text = (maxLength: number, description: string) =>
  Type.String({ maxLength, description })

/** A reason that must be given. */
export const reason = (description: string) =>
  Type.String({ minLength: 1, maxLength: REASON_MAX, description })

/** Schemes of an address that the service shows and never calls. A repository may also be read by git. */
export const URL_SCHEMES = {
  web: ['http', 'https'],
  repository: ['http', 'https', 'git', 'ssh', 'git+https'],
}

/** A URL. `registry-url.ts` validates it: one that is too long or has another scheme is `url_refused`. */
export const url = (description: string, kind: keyof typeof URL_SCHEMES = 'web') =>
  Type.String({ maxLength: URL_MAX, 'x-pattern': patternOf(URL_SCHEMES[kind]), description })

const patternOf = (schemes: readonly string[]): string => {
  const known = schemes.map((scheme) => inAnyCase(scheme).replace('+', '\\+')).join('|')
  return `^(?![\\u0001-\\u0020]*(?!(?:${known}):)[A-Za-z][A-Za-z0-9+.-]*:)[^\\u0000]*$`
}

export const uuid = (description: string) => Type.String({ format: 'uuid', description })

export const instant = (description: string) => Type.String({ format: 'date-time', description })

export const count = (description: string) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description })

/** A list of at most `most` texts of at most `longest` code points each. */
export const texts = (most: number, longest: number, description: string) =>
  Type.Array(Type.String({ maxLength: longest }), {
    maxItems: most,
    description,
    'x-expectation': `a list of at most ${most} strings`,
  })

/** Sentences about a change that does not fail and may surprise. */
export const warnings = Type.Optional(
  Type.Array(Type.String(), {
    description:
      'What may surprise or will not work, and why: a picture that cannot be shown, versions of the host that cannot be compared, translations that no language tag names, an id like another.',
  }),
)

export const tags = (description: string) => texts(50, 100, description)

/** A JSON object whose members have names of the caller's choice. */
export const map = <Member>(member: TSchema, options: Record<string, unknown>) =>
  Type.Unsafe<Record<string, Member>>({ type: 'object', additionalProperties: member, ...options })

/** No text in PostgreSQL can hold NUL. Bodies are read without it. */
export const WITHOUT_NUL = '^[^\\u0000]*$'

/** A text of a query. */
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

/** In the document: a body that has one of the statuses and does not say why. `validateReason` rejects it. */
export const withoutReason = (member: string, statuses: readonly string[], of = 'status') => ({
  required: [of],
  properties: { [of]: { enum: statuses }, [member]: { not: { type: 'string', pattern: '\\S' } } },
})

/** Platforms on which a node or a version runs. Each says so for itself: a version inherits nothing. */

const os = tags('Operating systems it runs on; any text.')
const accelerators = tags('Accelerators it runs on, such as CUDA; any text.')

const versions = {
  supported_host_version: Type.Optional(
    text(
      256,
      'Versions of the host: a specifier set (PEP 440) such as `>=1.2,<2`. Any other text is stored with a warning.',
    ),
  ),
  supported_host_frontend_version: Type.Optional(
    text(256, 'Versions of the host’s frontend, likewise.'),
  ),
}

/** In bodies. */
export const writtenSupport = {
  supported_os: Type.Optional(os),
  supported_accelerators: Type.Optional(accelerators),
  ...versions,
}

/** In responses, where lists are always there. */
export const shownSupport = { supported_os: os, supported_accelerators: accelerators, ...versions }
