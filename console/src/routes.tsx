import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router'
import type { ComponentType } from 'react'

import {
  oneOf,
  parseSearch,
  search,
  someOf,
  text,
  texts,
  time,
  writeSearch,
} from './search-params.ts'
import { Frame } from './shell/frame.tsx'
import { lazyPage } from './shell/lazy-page.ts'
import { CrashPage, MissingPage } from './shell/missing.tsx'
import { TASK_KINDS, TASK_STATES } from './tasks/list-rows.ts'

/** Who sees a page; all others are told who may. */
export type Who = 'all' | 'user' | 'admin'

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    title?: string
    who?: Who
  }
  interface Register {
    router: typeof router
  }
}

const root = createRootRoute({ component: Frame })

const page = <const Path extends string>(
  path: Path,
  [title, who = 'all']: readonly [title: string, who?: Who],
  load: () => Promise<{ Page: ComponentType }>,
) => ({ getParentRoute: () => root, path, staticData: { title, who }, component: lazyPage(load) })

const loadTry = () => import('./try/page.tsx')
const trySearch = search({ from: text, view: text })

const pages = [
  createRoute(page('/', ['Home'], () => import('./home/page.tsx'))),
  createRoute(page('/signed-in', ['Signing in'], () => import('./account/signed-in.tsx'))),
  createRoute({ ...page('/try', ['Try', 'user'], loadTry), validateSearch: trySearch }),
  createRoute({ ...page('/try/$kind', ['Try', 'user'], loadTry), validateSearch: trySearch }),
  createRoute({
    ...page('/tasks', ['Tasks', 'user'], () => import('./tasks/list.tsx')),
    validateSearch: search({
      kind: someOf(...TASK_KINDS),
      state: someOf(...TASK_STATES),
      from: time,
      to: time,
      q: text,
      owner: text,
    }),
  }),
  createRoute({
    ...page('/tasks/$task', ['Task', 'user'], () => import('./tasks/task.tsx')),
    validateSearch: search({ event: text }),
  }),
  createRoute({
    ...page('/registry', ['Registry'], () => import('./registry/search.tsx')),
    validateSearch: search({
      q: text,
      in: oneOf('names', 'host-nodes', 'repository'),
      os: texts,
      accelerator: texts,
      tag: texts,
      sort: oneOf('name', 'downloads;desc', 'created_at;desc'),
    }),
  }),
  createRoute({
    ...page('/registry/$node', ['Node'], () => import('./registry/node.tsx')),
    validateSearch: search({ tab: text, 'host-node': text, q: text }),
  }),
  createRoute({
    // {from}...{to}
    ...page(
      '/registry/$node/compare/$range',
      ['Compare versions'],
      () => import('./registry/compare.tsx'),
    ),
    validateSearch: search({ level: text, q: text }),
  }),
  createRoute({
    ...page('/registry/$node/$version', ['Version'], () => import('./registry/version.tsx')),
    validateSearch: search({ tab: text, 'host-node': text, q: text, file: text }),
  }),
  createRoute(
    page('/publishers', ['Publishers', 'user'], () => import('./publish/publishers.tsx')),
  ),
  createRoute({
    ...page(
      '/publishers/$publisher',
      ['Publisher', 'user'],
      () => import('./publish/publisher.tsx'),
    ),
    validateSearch: search({ tab: text }),
  }),
  createRoute({
    ...page(
      '/publishers/$publisher/publish',
      ['Publish', 'user'],
      () => import('./publish/publish.tsx'),
    ),
    validateSearch: search({ node: text, version: text }),
  }),
  createRoute({
    ...page('/moderation', ['Moderation', 'admin'], () => import('./moderation/page.tsx')),
    validateSearch: search({ tab: text, status: text, q: text, node: text, version: text }),
  }),
  createRoute({
    ...page('/operations', ['Operations', 'admin'], () => import('./operations/page.tsx')),
    validateSearch: search({ tab: text }),
  }),
  createRoute(page('/account', ['Account', 'user'], () => import('./account/page.tsx'))),
] as const

export const router = createRouter({
  routeTree: root.addChildren(pages),
  basepath: '/console',
  parseSearch,
  stringifySearch: writeSearch,
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultNotFoundComponent: MissingPage,
  defaultErrorComponent: CrashPage,
})
