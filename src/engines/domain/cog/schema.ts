import { isObject } from '../../../platform/domain/is-object.ts'
import { MAX_LISTED } from '../../../tasks/domain/listed-file.ts'
import type { Literal } from '../template/template.ts'
import type { Members } from '../template/custom-kind.ts'
import { adviseLoader, isReserved } from '../template/fields.ts'
import { readShape, type Resolve, type Shape } from './output.ts'

type Schema = Record<string, unknown>
type Member = Members[string]

/** Input and output of an engine, as its openapi.json says. */
export interface EngineSchema {
  /** Fields of its kind, in its order. */
  members: Members
  /** Members of its input, those that can be no field, too; true: without it there is no prediction. */
  inputs: Readonly<Record<string, boolean>>
  output: Shape
}

/** Most members of an input, and steps from one schema to another. */
const MAX_MEMBERS = 100
const MAX_STEPS = 16
const MAX_CHOICES = 1000
const MAX_ITEMS = 1000
const TEXT_CHARACTERS = 10_000
const DESCRIPTION_CHARACTERS = 500

/**
 * Reads the openapi.json of an engine.
 * @returns what it says, or in an issue why it can be no kind
 */
export const readEngineSchema = (
  document: Schema,
): { schema: EngineSchema; issues: [] } | { schema?: never; issues: string[] } => {
  const { Input: input, Output: output } = schemasOf(document)
  if (!input || !output) return { issues: ['its openapi.json has no schemas of Input and Output'] }
  const resolve = makeResolve(document)
  const given = resolve(input)
  const properties = isObject(given['properties']) ? given['properties'] : {}
  const required = Array.isArray(given['required']) ? (given['required'] as unknown[]) : []
  const names = Object.keys(properties)
  if (names.length > MAX_MEMBERS) return { issues: [`its Input has ${names.length} members`] }
  const issues: string[] = []
  const found = names.map((name) => {
    const schema = resolve(properties[name])
    const isRequired = required.includes(name)
    const member = nameIssue(name) ?? readMember(name, schema, resolve)
    if (typeof member === 'string' && isRequired) issues.push(`${name} ${member}`)
    return { name, isRequired, member, order: Number(schema['x-order'] ?? Infinity) }
  })
  if (issues.length > 0) return { issues }
  const ordered = found.toSorted((a, b) => (a.order === b.order ? 0 : a.order - b.order))
  const members = ordered.flatMap(({ name, isRequired, member }): [string, Member][] =>
    typeof member === 'string' ? [] : [[name, { ...member, required: isRequired }]],
  )
  return {
    schema: {
      members: Object.fromEntries(members),
      inputs: Object.fromEntries(found.map(({ name, isRequired }) => [name, isRequired])),
      output: readShape(output, resolve),
    },
    issues: [],
  }
}

const schemasOf = (document: Schema): Schema => {
  const { components } = document
  return isObject(components) && isObject(components['schemas']) ? components['schemas'] : {}
}

/** Makes what follows the references of a document into its own schemas. */
export const makeResolve = (document: Schema): Resolve => {
  const schemas = schemasOf(document)
  return (given) => {
    let schema: Schema = isObject(given) ? given : {}
    for (let steps = 0; steps < MAX_STEPS; steps += 1) {
      const next = findNext(schema, schemas)
      if (!next) return schema
      // What stands beside a reference says more of this member.
      const { $ref: _ref, allOf: _all, anyOf: _any, ...beside } = schema
      schema = { ...next, ...beside }
    }
    return {}
  }
}

/** A reference to elsewhere leads nowhere. */
const findNext = ({ $ref: ref, allOf: all, anyOf: any }: Schema, schemas: Schema) => {
  if (typeof ref === 'string') {
    const [, name = ''] = /^#\/components\/schemas\/([\w.-]+)$/.exec(ref) ?? []
    return Object.hasOwn(schemas, name) && isObject(schemas[name]) ? schemas[name] : {}
  }
  const list = (Array.isArray(all) ? all : Array.isArray(any) ? any : []) as unknown[]
  const [only, ...others] = list.filter((one) => !isObject(one) || one['type'] !== 'null')
  return isObject(only) && others.length === 0 ? only : undefined
}

/** Finds why a member can be no field by its name; undefined where it can. */
export const nameIssue = (name: string): string | undefined => {
  if (!/^[a-z]\w{0,62}$/i.test(name)) return 'is no name of a field'
  return isReserved(name) ? "is a name of the service's own" : undefined
}

/** Reads a member, or says why it is no field. */
export const readMember = (
  name: string,
  schema: Schema,
  resolve: Resolve,
): Omit<Member, 'required'> | string => {
  const { format, enum: choices, default: preset } = schema
  const type = typeOf(schema)
  const text = typeof schema['description'] === 'string' ? schema['description'] : ''
  const description = text.slice(0, DESCRIPTION_CHARACTERS) || `Input ${name} of the engine.`
  if (type === 'string' && format === 'uri') return readFile(name, text, description)
  if (type === 'array') {
    const items = readMember(name, { description: text, ...resolve(schema['items']) }, resolve)
    if (typeof items === 'string' || items.type === 'array')
      return 'is a list of what no field can be'
    const { default: _, description: __, ...rules } = items
    const { minItems = 0, maxItems = MAX_ITEMS } = schema
    const most = Math.min(items['x-media'] ? MAX_LISTED : MAX_ITEMS, Number(maxItems))
    if (Number(minItems) > most) return `is a list of more than ${most} items`
    return {
      type,
      items: rules,
      ...(Number(minItems) > 0 && { minItems: Number(minItems) }),
      maxItems: most,
      description,
    }
  }
  if (!isOneOf(type, ['string', 'number', 'integer', 'boolean']))
    return `is of type ${typeof type === 'string' ? type : 'any'}, which no field can be`
  const isValue = (value: unknown): value is Literal =>
    typeof value === (type === 'integer' ? 'number' : type) &&
    (type !== 'integer' || Number.isSafeInteger(value))
  if (Array.isArray(choices)) {
    const isChoice = (value: unknown): value is string | number =>
      isValue(value) && typeof value !== 'boolean'
    const known = (choices as unknown[]).filter(isChoice).slice(0, MAX_CHOICES)
    if (known.length === 0 || type === 'boolean') return 'has no choices'
    return {
      type,
      enum: known,
      ...(isChoice(preset) && known.includes(preset) && { default: preset }),
      description,
    }
  }
  const bounds = type === 'string' ? readLength(schema) : readRange(schema)
  const { minimum = -Infinity, maximum = Infinity } = bounds
  const isOffered =
    isValue(preset) && (typeof preset !== 'number' || !(preset < minimum || preset > maximum))
  return { type, ...bounds, ...(isOffered && { default: preset }), description }
}

/** A type may stand in a list beside null, and choices are of one without saying so. */
const typeOf = ({ type, enum: choices }: Schema): unknown => {
  if (Array.isArray(type)) return (type as unknown[]).find((one) => one !== 'null')
  return type ?? (Array.isArray(choices) ? typeof choices[0] : undefined)
}

const isOneOf = <Word extends string>(value: unknown, words: readonly Word[]): value is Word =>
  words.some((word) => word === value)

const readRange = (schema: Schema): { minimum?: number; maximum?: number } => {
  const { minimum, maximum } = schema
  return {
    ...(typeof minimum === 'number' && { minimum }),
    ...(typeof maximum === 'number' && { maximum }),
  }
}

const readLength = ({
  maxLength,
}: Schema): { maxLength: number; minimum?: never; maximum?: never } => ({
  maxLength:
    typeof maxLength === 'number' && maxLength > 0
      ? Math.min(maxLength, TEXT_CHARACTERS)
      : TEXT_CHARACTERS,
})

/** An engine does not say what a file is, but its author mostly does. */
const readFile = (name: string, text: string, description: string) => {
  const words = `${name.replaceAll('_', ' ')} ${text}`
  if (/\b(audio|sound|music|voice|speech|zip|archive|weights|lora)\b/i.test(words))
    return 'is a file of a kind that no field takes'
  return {
    'x-media':
      adviseLoader(words) === adviseLoader('video') ? ('video' as const) : ('image' as const),
    description,
  }
}
