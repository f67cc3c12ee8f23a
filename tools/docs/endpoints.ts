import { makeRoutes } from '../../src/http/routes.ts'
import type { RouteDeps } from '../../src/http/routes.ts'
import type { Route } from '../../src/http/route.ts'
import { makeTable } from './markers.ts'

/** One table for each group of routes, in the order they are mounted. */
export const makeEndpoints = (routes: readonly Route[] = listRoutes()): string => {
  const tags = [...new Set(routes.map((route) => route.tag))]
  return tags
    .map((tag) => {
      const rows = routes.filter((route) => route.tag === tag).map(describeRoute)
      return `**${tag}**\n\n${makeTable(['route', 'credential', 'does'], rows)}`
    })
    .join('\n\n')
}

/** The route values alone: nothing is called, so nothing of what the handlers use has to be there. */
const listRoutes = (): Route[] => {
  const deps: Partial<RouteDeps> = {
    checks: { postgres: reject, temporal: reject, storage: reject },
    lifecycle: { state: 'serving' },
    videoAuth: 'optional',
    extendSource: 'both',
    publishAuth: 'bearer+token',
  }
  return makeRoutes(deps as RouteDeps)
}

const reject = (): Promise<never> => Promise.reject(new Error('routes of the documentation'))

const describeRoute = (route: Route): string[] => [
  `\`${route.method.toUpperCase()} ${route.path.replaceAll(/:(\w+)/g, '{$1}')}\``,
  CREDENTIALS[route.auth],
  route.summary,
]

const CREDENTIALS: Record<Route['auth'], string> = {
  required: 'token or API key',
  optional: 'none, token or API key',
  jwt: 'token',
  none: '–',
  own: 'EXTRACTION_TOKEN',
}
