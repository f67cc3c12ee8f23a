import type { Express, Response } from 'express'

import type { Route } from './route.ts'
import { renamePath, type AliasTable } from '../alias/table.ts'

/** Takes requests on the paths with other names for those on the paths of the interface. */
export const useAliases = (app: Express, table: AliasTable, routes: readonly Route[]): void => {
  for (const path of new Set(routes.map((route) => route.path))) {
    const other = renamePath(table, path)
    if (other === undefined) continue
    const words = path.split('/')
    app.route(other).all((request, response, next) => {
      const given = request.path.split('/')
      const known = given.map((one, at) => (words[at]?.startsWith(':') ? one : (words[at] ?? one)))
      request.url = known.join('/') + request.url.slice(request.path.length)
      response.locals['isNamed'] = true
      next()
    })
  }
}

/** True when a request came by a path with other names. */
export const isNamed = ({ locals }: Response): boolean => locals['isNamed'] === true
