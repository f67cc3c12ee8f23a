import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Settings } from 'typebox/system'
import { Value } from 'typebox/value'

import { shown } from './errors.ts'
import { findMeant } from './meant.ts'
import { valueAt } from './pointer.ts'
import { counted } from './counted.ts'

/** One issue of a request: the field (JSON Pointer, or `?name`), the sentence about it, and the code it has on its own. */
export interface Issue {
  field: string
  message: string
  /** It must be absent, although nothing that it excludes was given. */
  isUnwanted?: boolean
  /** It is said in place of what the schema says of the field, which knows no setting. */
  isExact?: boolean
  code:
    | 'validation_failed'
    | 'incompatible_fields'
    | 'url_refused'
    | 'image_invalid'
    | 'pixel_limit'
    | 'version_invalid'
    | 'id_mismatch'
    | 'publisher_id_unavailable'
}

/** Makes an issue; its message begins with the field, unless that is the whole body. */
export const makeIssue = (
  field: string,
  sentence: string,
  code: Issue['code'] = 'validation_failed',
): Issue => ({ field, code, message: `${field} ${sentence}`.trimStart() })

export interface Validated {
  value: unknown
  issues: Issue[]
}

/** The members of a JSON Schema that a sentence is made from. */
export interface SchemaNode {
  type?: string
  enum?: unknown[]
  properties?: Record<string, SchemaNode>
  items?: SchemaNode
  /** The rule of every member, for a map; true: there is none. */
  additionalProperties?: SchemaNode | boolean
  /** A secret, whose value no message shows. */
  writeOnly?: boolean
  const?: unknown
  anyOf?: SchemaNode[]
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  minLength?: number
  maxLength?: number
  format?: string
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
  minProperties?: number
  maxProperties?: number
  /** The rule in words, where a reader would have to decipher a pattern. */
  'x-expectation'?: string
}

/**
 * Makes the validator of a schema: members that are null (at every depth that the schema rules) or unknown are dropped,
 * defaults applied, and every broken rule is reported once per field, in the order of the schema's members.
 * `emptyIsAbsent` names the members in which an empty string counts as absent. Nothing is converted: "5" is not a number.
 */
export const makeValidator = (schema: TSchema, emptyIsAbsent: readonly string[] = []) => {
  // The default stops at 8 errors; a caller gets all.
  Settings.Set({ maxErrors: 1_000 })
  const compiled = Compile(schema)
  const empty = new Set(emptyIsAbsent)
  const clean = isPlain(schema) ? keep : (value: unknown) => Value.Clean(schema, value)
  return (input: unknown): Validated => {
    const bare = dropAbsent(input, schema, empty)
    const value = Value.Default(schema, clean(bare))
    if (compiled.Check(value)) return { value, issues: [] }
    const issues = new Map<string, Issue>()
    for (const error of compiled.Errors(value))
      for (const field of fieldsOf(error)) {
        const known = describeField(schema, field, valueAt(value, field) ?? valueAt(input, field))
        if (known) issues.set(field, { field, message: known, code: 'validation_failed' })
      }
    return { value, issues: sortIssues(schema, [...issues.values()]) }
  }
}

/** Sorts issues in the order of the schema's members, which is the order of the documentation. */
export const sortIssues = (schema: TSchema, issues: readonly Issue[]): Issue[] => {
  const order = listFields(schema)
  return issues.toSorted((a, b) => rank(order, a) - rank(order, b))
}

/**
 * Joins the issues of a schema with the issues of rules that it cannot say. When a field has both, the rule's issue is
 * reported if it has a code of its own: a URL that is too long is `url_refused`.
 */
export const onePerField = (issues: readonly Issue[], rules: readonly Issue[]): Issue[] => {
  const broken = new Set(issues.map((issue) => issue.field))
  const reported = rules.filter(
    (rule) => rule.code !== 'validation_failed' || rule.isExact || !broken.has(rule.field),
  )
  const ruled = new Set(reported.map((rule) => rule.field))
  return [...issues.filter((issue) => !ruled.has(issue.field)), ...reported]
}

const rank = (order: string[], issue: Issue): number => {
  const at = order.indexOf(issue.field.replace(/^\?/, '/').replace(/\/\d+/g, '/*'))
  return at < 0 ? order.length : at
}

const fieldsOf = (error: {
  keyword: string
  schemaPath: string
  instancePath: string
  params: object
}): string[] => {
  const missing = (error.params as { requiredProperties?: string[] }).requiredProperties
  if (error.keyword === 'required' && missing)
    return missing.map((name) => `${error.instancePath}/${name}`)
  // A route's rules validate what holds between members, with codes of their own.
  if (error.keyword === 'not') return []
  // The members of a map report its issues. The route's rules validate their names.
  if (error.keyword === 'additionalProperties' || error.keyword === 'propertyNames') return []
  if (error.schemaPath.endsWith('/propertyNames')) return []
  return [error.instancePath]
}

const keep = (value: unknown): unknown => value

/** True when `dropAbsent` alone drops all that `Value.Clean` would, which makes a copy of the schema each time. */
const isPlain = (rule: SchemaNode): boolean =>
  !['allOf', 'oneOf', '$ref', 'patternProperties', 'prefixItems'].some((word) => word in rule) &&
  (rule.anyOf ?? []).every(({ properties, items }) => !properties && !items) &&
  [...Object.values(rule.properties ?? {}), rule.items, rule.additionalProperties].every(
    (inner) => typeof inner !== 'object' || isPlain(inner),
  )

/** Nothing is dropped below a member that may be of any type: its value belongs to the caller, nulls included. */
const dropAbsent = (
  value: unknown,
  rule: SchemaNode | undefined,
  empty: ReadonlySet<string>,
): unknown => {
  if (rule !== undefined && isUnruled(rule)) return value
  if (Array.isArray(value)) return value.map((item) => dropAbsent(item, rule?.items, empty))
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(
    ([name, member]) =>
      member !== null && !(member === '' && empty.has(name)) && !isUnknown(rule, name),
  )
  return Object.fromEntries(
    kept.map(([name, member]) => [name, dropAbsent(member, memberRule(rule, name), empty)]),
  )
}

/** `Value.Clean` does not reach the members of a map. */
const isUnknown = (rule: SchemaNode | undefined, name: string): boolean =>
  rule?.properties !== undefined && memberRule(rule, name) === undefined

export const isUnruled = (rule: SchemaNode): boolean =>
  !['type', 'enum', 'const', 'anyOf', 'allOf', 'oneOf', 'not', '$ref'].some((word) => word in rule)

export const memberRule = (rule: SchemaNode | undefined, name: string): SchemaNode | undefined => {
  const { properties, additionalProperties: rest } = rule ?? {}
  if (properties && Object.hasOwn(properties, name)) return properties[name]
  if (rest === true) return {}
  return rest === false ? undefined : rest
}

/** Every field of a schema as a pointer, `*` for list items, in the order of the members. */
const listFields = (schema: SchemaNode, at = ''): string[] => [
  at,
  ...Object.entries(schema.properties ?? {}).flatMap(([name, member]) =>
    listFields(member, `${at}/${name}`),
  ),
  ...(schema.items ? listFields(schema.items, `${at}/*`) : []),
]

const describeField = (schema: SchemaNode, field: string, got: unknown): string | undefined => {
  const rule = schemaAt(schema, field)
  if (!rule) return undefined
  const expectation = `must be ${describe(rule)}`
  if (rule.writeOnly && got !== undefined) return `${field} ${expectation}, got something else`
  if (got === undefined) return `${field} ${expectation}, but is absent`
  const meant = typeof got === 'string' && findMeant(got, (rule.enum ?? []).map(String))
  const advice = meant ? `; did you mean ${meant}?` : ''
  return `${field || 'the body'} ${expectation}, got ${shown(got)}${advice}`
}

const schemaAt = (schema: SchemaNode, field: string): SchemaNode | undefined =>
  field
    .split('/')
    .slice(1)
    .reduce<SchemaNode | undefined>(
      (rule, name) => (rule?.items && /^\d+$/.test(name) ? rule.items : memberRule(rule, name)),
      schema,
    )

/** The rule of a field in words: "a number from -10 to 10". All of it, because any part may be the one that is broken. */
const describe = (rule: SchemaNode): string => {
  if (rule['x-expectation']) return rule['x-expectation']
  if (rule.enum) return `one of ${rule.enum.join(', ')}`
  if (rule.const !== undefined) return shown(rule.const)
  if (rule.anyOf) return rule.anyOf.map(describe).join(' or ')
  const words = {
    string: `${FORMATS[rule.format ?? ''] ?? 'a string'}${length(rule)}`,
    number: `a number${range(rule)}`,
    integer: `a whole number${range(rule)}`,
    boolean: 'true or false',
    object: `an object${amount(rule.minProperties, rule.maxProperties, 'member')}`,
    array: `a list${amount(rule.minItems, rule.maxItems, 'item')}${rule.uniqueItems ? ', each once' : ''}`,
  }
  return words[rule.type as keyof typeof words] ?? 'something else'
}

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': 'an ISO 8601 date-time such as 2026-01-31T12:00:00Z',
  date: 'a day such as 2026-01-31',
  uuid: 'an id in the form of a UUID',
  uri: 'a URL',
}

const range = ({ minimum, exclusiveMinimum: above, maximum }: SchemaNode): string => {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`
  const upper = maximum === undefined ? [] : [`of at most ${maximum}`]
  const lower = minimum === undefined ? [] : [`of at least ${minimum}`]
  const parts = [...lower, ...(above === undefined ? [] : [`above ${above}`]), ...upper]
  return parts.length > 0 ? ` ${parts.join(' and ')}` : ''
}

const length = ({ minLength, maxLength }: SchemaNode): string =>
  minLength === 1 && !maxLength ? ' that is not empty' : amount(minLength, maxLength, 'character')

const amount = (min: number | undefined, max: number | undefined, what: string): string => {
  const count = (number: number): string => counted(number, what)
  if (min && max) return min === max ? ` of ${count(min)}` : ` of ${min} to ${count(max)}`
  if (min) return ` of at least ${count(min)}`
  return max ? ` of at most ${count(max)}` : ''
}
