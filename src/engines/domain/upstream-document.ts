import { isObject } from '../../platform/domain/is-object.ts'
import { makeResolve, nameIssue, readMember } from './cog/schema.ts'
import { mediumOf, type Members } from './template/custom-kind.ts'

/** Most members of one body. */
const MAX_MEMBERS = 100

/**
 * Lists what the OpenAPI document of an upstream names in the body of a POST, each with its type, range and choices. Files
 * and objects are left out, as no address of a caller's goes to an upstream; so are defaults, which are its own.
 * @param own members that the interface has
 */
export const readBodyMembers = (
  document: Record<string, unknown>,
  path: string,
  own: readonly string[] = [],
): Members => {
  const resolve = makeResolve(document)
  const steps = ['paths', path, 'post', 'requestBody', 'content', 'application/json', 'schema']
  const schema = steps.reduce<unknown>(
    (found, name) => (isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined),
    document,
  )
  const { properties } = resolve(schema)
  const members = Object.entries(isObject(properties) ? properties : {}).flatMap(
    ([name, given]) => {
      const member = nameIssue(name) ?? readMember(name, resolve(given), resolve)
      if (typeof member === 'string' || mediumOf(member) || own.includes(name)) return []
      const { default: _, ...rules } = member
      return [[name, rules] as const]
    },
  )
  return Object.fromEntries(members.slice(0, MAX_MEMBERS))
}
