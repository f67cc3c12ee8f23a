import { quotaOf } from '../../src/platform/http/access/limiter.ts'
import { QUOTAS } from '../../src/platform/http/access/rate-limit.ts'
import { makeRoutes } from '../../src/compose/routes.ts'
import type { RouteDeps } from '../../src/compose/routes.ts'
import type { Route } from '../../src/platform/http/route.ts'
import { makeList, makePage, makeTable, wrap } from './markdown.ts'
import { makePriceParts } from './prices.ts'

/** The page of all routes, their quotas, and what videos cost. */
export const makeEndpointsPage = (): string =>
  makePage('Endpoints', 'the routes', [
    wrap(INTRO),
    ...makeRouteLists(),
    '## Quotas',
    wrap(QUOTAS_INTRO),
    makeQuotaTable(),
    ...makePriceParts(),
  ])

const INTRO = `\`GET /openapi.json\`, which is also \`/openapi\` and, as YAML, \`/openapi.yml\`, describes every route with
every response. Every POST takes an \`Idempotency-Key\`. A signed link needs no credential: its signature is one. An image is
Base64, a \`data:\` URI, an \`https:\` URL, or the link of an upload or of another task's result. Unless
brackets say otherwise a route takes a bearer token or API key, which may be left out where it is \`optional\` and is not read where it is \`open\`. It counts against the quota \`read\` or \`write\`.`

const QUOTAS_INTRO = `Each api process keeps its own counts. RATE_LIMITS switches them off or multiplies them. A 429 has \`Retry-After\`.`

/** One heading and one list for each group of routes, in the order they are mounted. */
const makeRouteLists = (routes: readonly Route[] = listRoutes()): string[] => {
  const tags = [...new Set(routes.map((route) => route.tag))]
  return tags.flatMap((tag) => [
    `## ${tag}`,
    makeList(routes.filter((route) => route.tag === tag).map(describeRoute)),
  ])
}

const makeQuotaTable = (): string =>
  makeTable(
    ['quota', 'counts', 'requests', 'most at once'],
    Object.entries(QUOTAS).map(([name, quota]) => [
      `\`${name}\``,
      COUNTED[name as keyof typeof QUOTAS],
      `${quota.requests} in ${quota.seconds} s`,
      'burst' in quota ? String(quota.burst) : 'all of them',
    ]),
  )

const COUNTED: Record<keyof typeof QUOTAS, string> = {
  ip: 'every request of an address',
  read: 'reads of an address',
  registration: 'registrations of host nodes by an address',
  auth: 'rejected credentials of an address',
  workflow: 'questions of an address about workflows',
  create: 'creations of a caller',
  write: 'other changes of a caller',
}

/** The route values alone: nothing is called, so nothing of what the handlers use has to be there. */
export const listRoutes = (): Route[] => {
  const deps = {
    aliases: undefined,
    template: { customKinds: { list: () => [] } },
    videoTask: { videoAuth: 'optional', extendSource: 'both' },
    publish: { publishAuth: 'bearer+token' },
    registry: { registryReads: 'public' },
    platform: {
      checks: { postgres: reject, temporal: reject, storage: reject },
      lifecycle: { state: 'serving' },
    },
  }
  // Of any other area an empty bag.
  const bags = new Proxy(deps, {
    get: (target, name) => (name in target ? Reflect.get(target, name) : {}),
  })
  return makeRoutes(bags as unknown as RouteDeps)
}

const reject = (): Promise<never> => Promise.reject(new Error('routes of the documentation'))

const describeRoute = (route: Route): string => {
  const path = `\`${route.method.toUpperCase()} ${route.path.replaceAll(/:(\w+)/g, '{$1}')}\``
  const usual = route.method === 'get' ? 'read' : 'write'
  const terms = [CREDENTIALS[route.auth], quotaOf(route) ?? 'no quota'].filter(
    (term) => term !== undefined && term !== usual,
  )
  return `${path}: ${route.summary}${terms.length > 0 ? ` (${terms.join('; ')})` : ''}`
}

const CREDENTIALS: Record<Route['auth'], string | undefined> = {
  required: undefined,
  optional: 'optional',
  jwt: 'bearer token',
  none: 'open',
}
