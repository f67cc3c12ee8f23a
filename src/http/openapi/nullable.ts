type Json = Record<string, unknown>

/**
 * The schema of a body as callers are told it: a member that need not be given may also be null, at every depth, because
 * null counts as absent. (The validator drops such members before its schema sees them.)
 */
export const withNulls = (schema: object): Json => {
  const { properties, items, not, required } = schema as Schema
  const members = Object.entries(properties ?? {}).map(([name, member]) => {
    const rule = withNulls(member)
    return [name, required?.includes(name) ? rule : orNull(rule)]
  })
  return {
    ...schema,
    ...(items && { items: withNulls(items) }),
    ...(properties && { properties: Object.fromEntries(members) as Json }),
    ...(not && { not: whereGiven(not, properties ?? {}) }),
  }
}

interface Schema {
  type?: string
  properties?: Record<string, Schema>
  items?: Schema
  required?: string[]
  not?: Schema
}

const orNull = ({ type, enum: values, ...rest }: Json): Json => ({
  ...rest,
  ...(type === undefined ? {} : { type: [type, 'null'] }),
  ...(Array.isArray(values) ? { enum: [...(values as unknown[]), null] } : {}),
})

/** Members that exclude each other do so only when none of them is null. */
const whereGiven = (rule: Schema, properties: Record<string, Schema>): Json => ({
  ...rule,
  properties: Object.fromEntries(
    (rule.required ?? []).map((name) => [name, { type: properties[name]?.type }]),
  ),
})
