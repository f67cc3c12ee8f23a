import { KINDS, type AliasTable } from '../alias/table.ts'
import { isObject } from '../domain/is-object.ts'
import { findMeant } from '../domain/meant.ts'
import { OperatorError } from '../process/operator-error.ts'
import { HEADERS } from './openapi/headers.ts'
import type { Route } from './route.ts'

/** @throws an OperatorError that lists all names that no route has, and other names that mean two things */
export const validateNames = (table: AliasTable, routes: readonly Route[]): void => {
  const { images, ...known } = listNames(routes)
  const issues = KINDS.flatMap((kind) => {
    const given = Object.entries(table[kind])
    return given.flatMap(([name, other], at) => {
      const twin = given.findIndex(([, one]) => one === other)
      const near = findMeant(name, [...known[kind]])
      const rules: [boolean, string][] = [
        [!known[kind].has(name), `names nothing here${near ? `; did you mean ${near}?` : ''}`],
        [kind === 'members' && images.has(name), 'holds a picture, which must keep its name'],
        [known[kind].has(other), `must not be ${other}, which is a name itself`],
        [twin < at, `must not be ${other} like ${given[twin]?.[0]}`],
      ]
      return rules.filter(([broken]) => broken).map(([, rule]) => `/${kind}/${name} ${rule}`)
    })
  })
  if (issues.length > 0)
    throw new OperatorError(`the table in WIRE_ALIASES is not usable: ${issues.join('; ')}`)
}

/** Lists every name that the routes have, by kind, and the members of bodies that hold pictures. */
const listNames = (routes: readonly Route[]) => {
  const [members, values] = [new Set<string>(), new Set<string>()]
  JSON.stringify(routes, (key, value: unknown) => {
    if (key === 'properties' && isObject(value))
      Object.keys(value).forEach((one) => members.add(one))
    if (key === 'enum' && Array.isArray(value)) value.forEach((word) => values.add(String(word)))
    return value
  })
  return {
    paths: new Set(routes.flatMap(({ path }) => path.split('/').filter((one) => /^\w/.test(one)))),
    query: new Set(routes.flatMap(({ query }) => Object.keys(query?.properties ?? {}))),
    members,
    values,
    headers: new Set<string>(Object.keys(HEADERS)),
    images: new Set(routes.flatMap(({ body }) => body?.images ?? []).map((at) => at.split('/')[1])),
  }
}
