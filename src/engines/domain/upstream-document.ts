import { isObject } from '../../platform/domain/is-object.ts'
import type { Resolve } from './cog/output.ts'
import { makeResolve, nameIssue, readMember } from './cog/schema.ts'
import type { Members } from './template/custom-kind.ts'

type Json = Record<string, unknown>

/** Most members of one body. */
const MAX_MEMBERS = 100

/**
 * Lists what the OpenAPI document of an upstream names in the body of a POST, each with its type, range and choices. Files
 * and objects are left out, as no address of a caller's goes to an upstream; so are defaults, which are its own.
 */
export const readBodyMembers = (document: Json, path: string): Members => {
  const resolve = makeResolve(document)
  const body = dig(document, 'paths', path, 'post', 'requestBody', 'content', 'application/json')
  const members = listProperties(dig(body, 'schema'), resolve).flatMap(([name, given]) => {
    const member = nameIssue(name) ?? readMember(name, resolve(given))
    if (typeof member === 'string' || member['x-media']) return []
    const { default: _, ...rules } = member
    return [[name, rules] as const]
  })
  return Object.fromEntries(members.slice(0, MAX_MEMBERS))
}

const dig = (value: unknown, ...names: readonly string[]): unknown =>
  names.reduce<unknown>(
    (found, name) => (isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined),
    value,
  )

/** Lists the properties of a schema, and of those that it is made of. */
const listProperties = (given: unknown, resolve: Resolve, depth = 0): [string, unknown][] => {
  const { properties, allOf } = resolve(given)
  const parts = depth < MAX_DEPTH && Array.isArray(allOf) ? (allOf as unknown[]) : []
  return [
    ...parts.flatMap((part) => listProperties(part, resolve, depth + 1)),
    ...Object.entries(isObject(properties) ? properties : {}),
  ]
}

const MAX_DEPTH = 4
