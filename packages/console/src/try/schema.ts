/** The words of JSON Schema that bodies of the document use. */
export interface JsonSchema {
  $ref?: string
  type?: string | readonly string[]
  enum?: readonly (string | number | boolean | null)[]
  const?: unknown
  default?: unknown
  title?: string
  description?: string
  minimum?: number
  maximum?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  pattern?: string
  items?: JsonSchema
  properties?: Readonly<Record<string, JsonSchema>>
  additionalProperties?: unknown
  required?: readonly string[]
  not?: JsonSchema
  anyOf?: readonly JsonSchema[]
}

export type Body = Readonly<Record<string, unknown>>

/** True when a value matches a schema, by the keywords that rules about combinations of members use. */
export const matches = (schema: JsonSchema, value: unknown): boolean =>
  (!('const' in schema) || schema.const === value) &&
  (!schema.enum || schema.enum.includes(value as string)) &&
  (schema.type !== 'null' || value === null) &&
  (!schema.not || !matches(schema.not, value)) &&
  (!schema.anyOf || schema.anyOf.some((one) => matches(one, value))) &&
  (schema.maxItems === undefined || !Array.isArray(value) || value.length <= schema.maxItems) &&
  matchesMembers(schema, value as Body)

const matchesMembers = ({ required = [], properties = {} }: JsonSchema, body: Body): boolean =>
  required.every((name) => body[name] !== undefined) &&
  Object.entries(properties).every(
    ([name, rule]) => body[name] === undefined || matches(rule, body[name]),
  )

/** The parts of the document that a form is made of. */
export interface Document {
  paths: Record<
    string,
    { post?: { requestBody?: { content: { 'application/json': { schema: JsonSchema } } } } }
  >
  components: { schemas: Record<string, JsonSchema> }
}

/** The schema of a creation's body. */
export const schemaOf = ({ paths, components }: Document, path: string): JsonSchema | undefined => {
  const schema = paths[path]?.post?.requestBody?.content['application/json'].schema
  const { $ref: reference } = schema ?? {}
  return reference === undefined ? schema : components.schemas[reference.split('/').at(-1) ?? '']
}
