import { isObject } from '../../domain/shared/is-object.ts'
import type { Route } from '../route.ts'
import { listAll, renamePath, type AliasTable } from './table.ts'
import { inWords } from './translation.ts'

type Json = Record<string, unknown>

interface Document extends Json {
  paths: Record<string, Record<string, Json>>
  components: { schemas: Record<string, Json> }
}

/**
 * Adds the paths with other names to an OpenAPI document. Where a path has no other name, its members and parameters
 * stand beside those of the interface.
 */
export const addAliases = (given: Json, routes: readonly Route[], table: AliasTable): Json => {
  const { paths, components } = structuredClone(given) as Document
  const both = makeRename(given as Document, table, { isBoth: true })
  const ids = new Map<unknown, string>()
  const rename = makeRename(given as Document, table, { isBoth: false, ids })
  const named = routes.map((route) => ({ ...route, other: renamePath(table, route.path) }))
  const get = ({ path, method }: Pick<Route, 'path' | 'method'>): Json =>
    (given as Document).paths[template(path)]?.[method] ?? {}
  for (const { other, ...route } of named) {
    const { operationId } = get(route)
    if (other !== undefined) ids.set(operationId, `${String(operationId)}_alias`)
  }
  for (const { other, ...route } of named) {
    const path = template(other ?? route.path)
    const operation = (other === undefined ? both : rename).show(get(route))
    paths[path] = { ...paths[path], [route.method]: operation as Json }
  }
  const schemas = { ...components.schemas, ...both.schemas, ...rename.schemas }
  return { ...given, paths, components: { ...components, schemas } }
}

const template = (path: string): string => path.replace(/:(\w+)/g, '{$1}')

interface Mode {
  /** Names stand beside those of the interface, not in their place. */
  isBoth: boolean
  /** Ids of operations with other names. */
  ids?: ReadonlyMap<unknown, string>
}

/** Makes what shows a part of the document with other names, and collects the schemas that this changes. */
const makeRename = (document: Document, table: AliasTable, { isBoth, ids }: Mode) => {
  const schemas: Record<string, Json> = {}
  const all = new Map(listAll(table))

  const put = (names: Record<string, string>, name: unknown): unknown[] => {
    const other = Object.hasOwn(names, String(name)) ? names[String(name)] : undefined
    return other === undefined ? [name] : isBoth ? [name, other] : [other]
  }
  const putKeys = (names: Record<string, string>, value: object, of = show): Json =>
    Object.fromEntries(
      Object.entries(value).flatMap(([name, member]) =>
        put(names, name).map((one) => [one, of(member)]),
      ),
    )
  const showParameter = (parameter: unknown): unknown[] => {
    const shown = show(parameter) as Json
    if (shown['in'] !== 'query') return [shown]
    return put(table.query, shown['name']).map((name) => ({ ...shown, name }))
  }
  const showExample = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(showExample)
    if (isObject(value)) return putKeys(table.members, value, showExample)
    return typeof value === 'string' ? put(table.values, value)[0] : value
  }
  const refer = (reference: string): string => {
    const [, name = ''] = /^#\/components\/schemas\/(.+)$/.exec(reference) ?? []
    const schema = document.components.schemas[name]
    if (!schema) return reference
    const own = isBoth ? name : `${name}Alias`
    if (!schemas[own]) {
      const shown = show(schema) as Json
      if (JSON.stringify(shown) === JSON.stringify(schema)) return reference
      schemas[own] = shown
    }
    return `#/components/schemas/${own}`
  }
  const rules: Record<string, (value: never) => unknown> = {
    $ref: refer,
    properties: (value: Json) => putKeys(table.members, value),
    required: (value: unknown) =>
      Array.isArray(value) && !isBoth ? value.flatMap((name) => put(table.members, name)) : value,
    enum: (value: unknown[]) => value.flatMap((one) => put(table.values, one)),
    propertyNames: ({ enum: names, ...rest }: Json) => ({
      ...rest,
      ...(Array.isArray(names) && { enum: names.flatMap((name) => put(table.members, name)) }),
    }),
    default: showExample,
    example: showExample,
    examples: showExample,
    parameters: (value: unknown) => (Array.isArray(value) ? value.flatMap(showParameter) : value),
    headers: (value: Json) => (isBoth ? value : putKeys(table.headers, value)),
    operationId: (value: string) => ids?.get(value) ?? value,
    description: (value: string) => (isBoth ? value : inWords(value, all)),
    summary: (value: string) => (isBoth ? value : inWords(value, all)),
  }
  function show(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(show)
    if (!isObject(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [
        key,
        Object.hasOwn(rules, key) ? rules[key]?.(member as never) : show(member),
      ]),
    )
  }
  return { schemas, show }
}
