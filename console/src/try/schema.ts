/** The words of JSON Schema that bodies of the document use. */
export interface JsonSchema {
  type?: string | readonly string[]
  enum?: readonly unknown[]
  const?: unknown
  default?: unknown
  description?: string
  minimum?: number
  maximum?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  pattern?: string
  items?: JsonSchema
  properties?: Readonly<Record<string, JsonSchema>>
  required?: readonly string[]
  not?: JsonSchema
  anyOf?: readonly JsonSchema[]
}

export type Body = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const typeOf = (value: unknown): string => {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}

const hasType = (types: readonly string[], value: unknown): boolean =>
  types.includes(typeOf(value)) || (typeof value === 'number' && types.includes('number'))

/** Whether a value is one of a schema, as far as rules about combinations of members go. */
export const matches = (schema: JsonSchema, value: unknown): boolean =>
  (!('const' in schema) || schema.const === value) &&
  (!schema.enum || schema.enum.includes(value)) &&
  (!schema.type || hasType([schema.type].flat(), value)) &&
  (!schema.not || !matches(schema.not, value)) &&
  (!schema.anyOf || schema.anyOf.some((one) => matches(one, value))) &&
  (schema.maxItems === undefined || !Array.isArray(value) || value.length <= schema.maxItems) &&
  (!isObject(value) || matchesMembers(schema, value))

const matchesMembers = ({ required = [], properties = {} }: JsonSchema, value: Body): boolean =>
  required.every((name) => value[name] !== undefined) &&
  Object.entries(properties).every(
    ([name, rule]) => value[name] === undefined || matches(rule, value[name]),
  )

/** The parts of the document that a form is made of. */
export interface Document {
  paths: Record<
    string,
    { post?: { requestBody?: { content: { 'application/json': { schema: JsonSchema & Ref } } } } }
  >
  components: { schemas: Record<string, JsonSchema> }
}
interface Ref {
  $ref?: string
}

/** The schema of a creation's body. */
export const schemaOf = ({ paths, components }: Document, path: string): JsonSchema | undefined => {
  const schema = paths[path]?.post?.requestBody?.content['application/json'].schema
  if (schema?.$ref === undefined) return schema
  return components.schemas[schema.$ref.split('/').at(-1) ?? '']
}
