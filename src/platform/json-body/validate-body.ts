import type { TSchema } from 'typebox'

import { makeOnce } from '../domain/make-once.ts'
import { toPointer } from '../domain/pointer.ts'
import {
  addMembers,
  listEmptyIsAbsent,
  NO_MEMBERS,
  type FurtherMembers,
} from '../domain/schema-fields.ts'
import { ALL_FIELD, makeValidateBounds, validateBlanks } from '../domain/time-bounds.ts'
import { listUnread, unreadIssues, type Unread } from '../domain/unread.ts'
import { makeValidator, onePerField, sortIssues, type Issue } from '../domain/validate.ts'
import { validationError } from '../domain/validation-error.ts'
import { replaceInline, type InlineImage } from './inline.ts'
import type { JsonBody } from './read-json-body.ts'

/** A body as the rules that a schema cannot say see it. */
export interface RuledBody {
  body: Record<string, unknown>
  inline: ReadonlyMap<string, InlineImage>
}

/** Rules for a JSON body, however it came. */
export interface BodyRules {
  schema: TSchema
  /** Finds optional members beside those of the schema; the same object until they change. */
  findMembers?: (() => FurtherMembers | undefined) | undefined
  /** Members in which an empty string counts as absent; optional: all that need not be there and take none. */
  emptyIsAbsent?: readonly string[] | 'optional' | undefined
  /** Members that nothing reads unless a platform admin sends them. */
  adminMembers?: readonly string[] | undefined
  /** Members that nothing reads, and that clients send back as they read them: they are not rejected. */
  sentBack?: readonly string[] | undefined
  /** Only names that were meant otherwise are rejected; absent: all that nothing reads. */
  unread?: 'ignored' | undefined
  /** When a name that is new will be read, of members that come and go. */
  newNames?: string | undefined
  /** Rules that a schema cannot say; their issues are reported together with the schema's. */
  validate?: ((given: RuledBody & { params: Record<string, unknown> }) => Issue[]) | undefined
  /** Lists members of a valid body that take no effect beside its others. */
  listIneffective?: ((given: RuledBody) => Unread[]) | undefined
}

/** A body with all that is wrong with it. */
export interface ValidBody {
  value: unknown
  /** By their pointer. */
  inline: ReadonlyMap<string, InlineImage>
  issues: Issue[]
  /** Members that nothing reads. */
  unread: Unread[]
}

/** Stand-in for an inline image in the schema's check, which wants a string there. */
const STAND_IN = 'inline image'

/** Makes the validator of a body: its schema and the rules a schema cannot say, reported in the schema's order. */
export const makeValidateBody = (rules: BodyRules): ReturnType<typeof makeValidate> => {
  const validateBy = makeOnce((members: FurtherMembers) =>
    makeValidate({ ...rules, schema: addMembers(rules.schema, members) }),
  )
  return (...given) => validateBy(rules.findMembers?.() ?? NO_MEMBERS)(...given)
}

const makeValidate = (rules: BodyRules) => {
  const { schema, emptyIsAbsent: empty } = rules
  const validate = makeValidator(schema, empty === 'optional' ? listEmptyIsAbsent(schema) : empty)
  const validateBounds = makeValidateBounds(schema, '/')
  return (
    { value: given, inline: images }: Pick<JsonBody, 'value' | 'inline'>,
    params: Record<string, unknown> = {},
  ): ValidBody => {
    const shape = replaceInline(given, images, () => STAND_IN)
    const { value, issues } = validate(shape)
    const body = value as Record<string, unknown>
    const inline = new Map(images.map((image) => [image.pointer, image]))
    const blanks = validateBlanks(schema, shape)
    const further = [
      ...blanks,
      ...validateBounds(body),
      // Whoever left a value out does not mean all.
      ...(rules.validate?.({ params, body, inline }) ?? []).filter(
        ({ field }) => blanks.length === 0 || field !== ALL_FIELD,
      ),
    ]
    const unread = listUnread(schema, shape, rules.unread !== 'ignored')
    return { value, inline, issues: sortIssues(schema, onePerField(issues, further)), unread }
  }
}

interface Given {
  body: ValidBody
  /** Absent: there is none. */
  query?: { value: unknown; issues: readonly Issue[]; unread: readonly Unread[] }
  isAdmin?: boolean
  further?: readonly Issue[]
  /** Converts members that nothing reads to the names that the caller knows. */
  nameUnread?: ((unread: Unread[]) => Unread[]) | undefined
  /** Returns true where members that nothing reads are rejected. */
  isStrict?(unread: readonly Unread[]): boolean
}

const NO_QUERY = { value: {}, issues: [], unread: [] }

/** Throws the issues of a request, all of them together; returns what nothing reads of a valid one. */
export const requireValid = (
  rules: Partial<BodyRules>,
  { body, query = NO_QUERY, isAdmin, further = [], nameUnread, isStrict }: Given,
): Unread[] => {
  const found = [
    ...query.unread,
    ...body.unread,
    ...(isAdmin ? [] : listAdminMembers(rules, body)),
    ...listIneffective(rules, body),
  ]
  const unread = nameUnread?.(found) ?? found
  const unknown = unreadIssues(unread, isStrict?.(unread) ?? false, rules)
  // A filter with a misspelt name is no empty one, although it looks like one to its rule.
  const isMisspelt = ({ field }: Issue): boolean => field === ALL_FIELD && unknown.length > 0
  const others = [...query.issues, ...body.issues].filter((issue) => !isMisspelt(issue))
  const issues = [...further, ...others, ...unknown]
  const rejection = validationError(issues, { query: query.value, body: body.value })
  if (rejection) throw rejection
  return unread
}

const listAdminMembers = (
  { adminMembers }: Pick<BodyRules, 'adminMembers'>,
  { value }: ValidBody,
): Unread[] =>
  Object.entries(value ?? {}).flatMap(([name, member]) =>
    adminMembers?.includes(name)
      ? { field: toPointer([name]), meant: undefined, value: member }
      : [],
  )

const listIneffective = (
  { listIneffective: list }: Pick<BodyRules, 'listIneffective'>,
  { value, inline, issues }: ValidBody,
): Unread[] =>
  (issues.length === 0 && list?.({ body: value as Record<string, unknown>, inline })) || []
