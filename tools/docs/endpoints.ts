import { quotaOf } from '../../src/http/access/limiter.ts'
import { QUOTAS } from '../../src/http/access/rate-limit.ts'
import { makeRoutes } from '../../src/http/routes.ts'
import type { RouteDeps } from '../../src/http/routes.ts'
import type { Route } from '../../src/http/route.ts'
import { makePage, makeTable } from './markdown.ts'

/** The page of all routes and their quotas. */
export const makeEndpointsPage = (): string =>
  makePage('Endpoints', 'the routes of `src/http`', [
    INTRO,
    ...makeRouteTables(),
    '## Quotas',
    QUOTAS_INTRO,
    makeQuotaTable(),
  ])

const INTRO = `\`GET /openapi.json\`, which is also \`/openapi\` and, as YAML, \`/openapi.yml\`, describes every route with every answer it can give. Every POST takes an \`Idempotency-Key\`. A signed link
needs no credential: its signature is one. An image is Base64, a \`data:\` URI, an \`https:\` URL, or the link of an upload or of
another task's result. The last column names the quota that a request counts against.`

const QUOTAS_INTRO = `Each api process keeps its own counts. RATE_LIMITS switches them off or multiplies them. An answer of 429 has \`Retry-After\`.`

/** One heading and one table for each group of routes, in the order they are mounted. */
const makeRouteTables = (routes: readonly Route[] = listRoutes()): string[] => {
  const tags = [...new Set(routes.map((route) => route.tag))]
  return tags.flatMap((tag) => [
    `## ${tag}`,
    makeTable(
      ['route', 'credential', 'does', 'quota'],
      routes.filter((route) => route.tag === tag).map(describeRoute),
    ),
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
  auth: 'refused credentials of an address',
  create: 'creations of a caller',
  write: 'other changes of a caller',
}

/** The route values alone: nothing is called, so nothing of what the handlers use has to be there. */
export const listRoutes = (): Route[] => {
  const deps = {
    videoTask: { videoAuth: 'optional', extendSource: 'both' },
    publish: { publishAuth: 'bearer+token' },
    platform: {
      checks: { postgres: reject, temporal: reject, storage: reject },
      lifecycle: { state: 'serving' },
    },
  }
  // Of any other area an empty bag.
  const bags = new Proxy(deps, { get: (target, name) => Reflect.get(target, name) ?? {} })
  return makeRoutes(bags as unknown as RouteDeps)
}

const reject = (): Promise<never> => Promise.reject(new Error('routes of the documentation'))

const describeRoute = (route: Route): string[] => [
  `\`${route.method.toUpperCase()} ${route.path.replaceAll(/:(\w+)/g, '{$1}')}\``,
  CREDENTIALS[route.auth],
  route.summary,
  quotaOf(route) ?? '–',
]

const CREDENTIALS: Record<Route['auth'], string> = {
  required: 'token or API key',
  optional: 'none, token or API key',
  jwt: 'token',
  none: '–',
  own: 'EXTRACTION_TOKEN',
}
