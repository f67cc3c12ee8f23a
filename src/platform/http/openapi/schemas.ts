import type { TSchema } from 'typebox'

import { WITHOUT_NUL } from '../../domain/schema-fields.ts'

type Json = Record<string, unknown>

/** Place of a schema: in what callers send, or in a response. */
export type Place = 'body' | 'parameter' | 'response'

/** The schemas of the document: what has a name is a component of its own, and a reference everywhere else. */
export interface Schemas {
  components: Record<string, Json>
  /** A schema as the document shows it in a place. */
  show(schema: object, place: Place): Json
}

/** Names of schemas for clients: each is one component of the document, wherever it stands. */
export type SchemaNames = Readonly<Record<string, TSchema>>

interface Schema {
  type?: string
  enum?: unknown[]
  pattern?: string
  format?: string
  /** Label of a member; the title of a schema is the name of its component. */
  'x-title'?: string
  /** A rule that the document states; the service validates it elsewhere, with a code of its own. */
  'x-pattern'?: string
  properties?: Record<string, Schema>
  items?: Schema
  additionalProperties?: Schema
  propertyNames?: { pattern?: string }
  required?: string[]
  allOf?: Schema[]
  anyOf?: Schema[]
  not?: Schema
}

/**
 * Collects the components of a document. In a body a member that need not be given may also be null, at every depth,
 * because null counts as absent. (The validator drops such members before its schema sees them.)
 */
export const makeSchemas = (names: SchemaNames = {}): Schemas => {
  const components: Record<string, Json> = {}
  // Members are copies of their schemas (`Type.Optional` makes one), so schemas are known by what they say.
  const byText = new Map(
    Object.entries(names).map(([name, schema]) => [JSON.stringify(schema), name]),
  )
  // A schema that is made has a title.
  const nameOf = (schema: { title?: string }): string | undefined =>
    schema.title ?? byText.get(JSON.stringify(schema))

  const show = (schema: object, place: Place): Json => {
    const shown = showParts(schema, (part) => show(part, place), place)
    const name = nameOf(schema)
    return name === undefined ? shown : refer(name, shown)
  }

  const refer = (name: string, named: Json): Json => {
    const shown = omit(named, 'title')
    const known = components[name]
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(shown))
      throw new Error(`there are two schemas of the name ${name}`)
    components[name] = shown
    return { $ref: `#/components/schemas/${name}` }
  }

  return { components, show }
}

const showParts = (
  { 'x-pattern': notified, 'x-title': title, ...schema }: Schema,
  show: (part: Schema) => Json,
  place: Place,
): Json => {
  const { properties, required, items, additionalProperties, allOf, anyOf, not } = schema
  const showMember = ([name, member]: [string, Schema]): [string, Json] => [
    name,
    place !== 'body' || required?.includes(name) ? show(member) : orNull(show(member)),
  ]
  return {
    ...schema,
    ...(title !== undefined && { title }),
    ...(items && { items: show(items) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(showMember)) as Json,
    }),
    ...(additionalProperties && { additionalProperties: show(additionalProperties) }),
    ...(notified !== undefined && place !== 'response' && { pattern: notified }),
    ...(place === 'body' && readerRules(schema, notified)),
    ...(allOf && { allOf: allOf.map(show) }),
    ...(anyOf && { anyOf: anyOf.map(show) }),
    ...(not?.required && !not.properties && { not: whereGiven(not, properties ?? {}) }),
  }
}

/** Rules of the reader of bodies, whatever the schema. PostgreSQL keeps no NUL. */
const readerRules = (
  { type, enum: values, pattern, format, additionalProperties, propertyNames }: Schema,
  notified: string | undefined,
): Json => ({
  ...(type === 'string' && !values && !format && { pattern: notified ?? pattern ?? WITHOUT_NUL }),
  ...(additionalProperties && { propertyNames: { pattern: MEMBER_NAME, ...propertyNames } }),
})

const MEMBER_NAME = '^(?!__proto__$)[^\\u0000]*$'

const NULL = { type: 'null' }

const orNull = ({ type, enum: values, ...rest }: Json): Json => {
  if ('$ref' in rest) return { anyOf: [rest, NULL] }
  return {
    // Generators take no object for a default; the members of one have their own.
    ...(type === 'object' ? omit(rest, 'default') : rest),
    ...(type === undefined ? {} : { type: [type, 'null'] }),
    ...(Array.isArray(values) ? { enum: [...(values as unknown[]), null] } : {}),
  }
}

const omit = (object: Json, name: string): Json =>
  Object.fromEntries(Object.entries(object).filter(([key]) => key !== name))

/** Lets members exclude each other only when each has a value that is not null. */
const whereGiven = (rule: Schema, properties: Record<string, Schema>): Json => ({
  ...rule,
  properties: Object.fromEntries(
    (rule.required ?? []).map((name) => [name, { type: properties[name]?.type }]),
  ),
})
