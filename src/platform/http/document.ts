import { isObject } from '../domain/is-object.ts'
import { makeOnce } from '../domain/make-once.ts'
import { listAll, makePut, own, renamePath, type AliasTable } from '../alias/table.ts'
import { inWords } from '../alias/translation.ts'

type Json = Record<string, unknown>
/** Returns the names that stand for one. */
type Put = (name: unknown) => unknown[]

interface Document extends Json {
  paths: Record<string, Record<string, Json>>
  components: { schemas: Record<string, Json> }
}

/**
 * Adds the paths with other names to an OpenAPI document. Where a path has no other name, its members and parameters
 * have both: the other name stands beside the interface's name.
 */
export const addAliases = (given: Json, table: AliasTable): Json => {
  const { paths, components } = given as Document
  const schemas = { ...components.schemas }
  const named = Object.entries(paths).map(
    ([path, item]) => [renamePath(table, path), path, item] as const,
  )
  const ids = named
    .filter(([other]) => other !== undefined)
    .flatMap(([, , item]) => Object.values(item).map(({ operationId }) => operationId))
  const show = (isBoth: boolean) =>
    makeShow({ given: components.schemas, schemas, table, isBoth, ids: isBoth ? [] : ids })
  const [both, alone] = [show(true), show(false)]
  const shown = named.map(([other, path, item]) =>
    other === undefined ? [path, both(item)] : [other, alone(item)],
  )
  const all = { ...paths, ...Object.fromEntries(shown) }
  return { ...given, paths: all, components: { ...components, schemas } }
}

interface Mode {
  given: Document['components']['schemas']
  /** Gets the schemas that other names change. */
  schemas: Record<string, Json>
  table: AliasTable
  /** Other names stand beside the interface's names, not in their place. */
  isBoth: boolean
  /** Ids of operations, which are others on a path with other names. */
  ids: readonly unknown[]
}

/** Makes what shows a part of the document with other names. */
const makeShow = ({ given, schemas, table, isBoth, ids }: Mode) => {
  const all = new Map(listAll(table))
  const [member, word, query] = [table.members, table.values, table.query].map((names) =>
    makePut(names, isBoth),
  ) as [Put, Put, Put]
  const keys = (value: object, put: Put, of: (member: unknown) => unknown): Json =>
    Object.fromEntries(
      Object.entries(value).flatMap(([name, one]) => put(name).map((other) => [other, of(one)])),
    )
  const list = (value: unknown, put: Put) => (Array.isArray(value) ? value.flatMap(put) : value)
  const example = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(example)
    return isObject(value) ? keys(value, member, example) : word(value)[0]
  }
  const text = (value: string): string => (isBoth ? value : inWords(value, all))
  const showSchema = makeOnce((schema: Json) => {
    const shown = show(schema) as Json
    return { shown, isSame: JSON.stringify(shown) === JSON.stringify(schema) }
  })
  const refer = (reference: string): string => {
    const [, name = ''] = /^#\/components\/schemas\/(.+)$/.exec(reference) ?? []
    const schema = given[name]
    if (!schema || showSchema(schema).isSame) return reference
    schemas[isBoth ? name : `${name}Alias`] = showSchema(schema).shown
    return isBoth ? reference : `${reference}Alias`
  }
  const parameter: Put = (given) => {
    const shown = show(given) as Json
    const names = shown['in'] === 'query' ? query(shown['name']) : [shown['name']]
    return names.map((name) => ({ ...shown, name }))
  }
  const rules: Record<string, (value: never) => unknown> = {
    $ref: refer,
    properties: (value: Json) => keys(value, member, show),
    required: (value: unknown) => (isBoth ? value : list(value, member)),
    enum: (value: unknown) => list(value, word),
    propertyNames: ({ enum: names, ...rest }: Json) => ({
      ...rest,
      ...(names !== undefined && { enum: list(names, member) }),
    }),
    default: example,
    example,
    examples: example,
    parameters: (value: unknown) => list(value, parameter),
    headers: (value: Json) => (isBoth ? value : keys(value, makePut(table.headers, isBoth), show)),
    operationId: (id: string) => (ids.includes(id) ? `${id}_alias` : id),
    description: text,
    summary: text,
  }
  function show(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(show)
    if (!isObject(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, (own(rules, key) ?? show)(one as never)]),
    )
  }
  return show
}
