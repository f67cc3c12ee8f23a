import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router'

import { oneOf, parseSearch, search, text, texts, time, writeSearch } from './search-params.ts'
import { Frame } from './shell/frame.tsx'
import { lazyPage } from './shell/lazy-page.ts'
import { CrashPage, MissingPage } from './shell/missing.tsx'

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

const page = <const Path extends string>(path: Path, title: string, who: Who = 'all') => ({
  getParentRoute: () => root,
  path,
  staticData: { title, who },
})

const trySearch = search({ from: text, view: text })

const pages = [
  createRoute({
    ...page('/', 'Home'),
    component: lazyPage(() => import('./home/page.tsx'), 'HomePage'),
  }),
  createRoute({
    ...page('/signed-in', 'Signing in'),
    component: lazyPage(() => import('./account/signed-in.tsx'), 'SignedInPage'),
  }),
  createRoute({
    ...page('/try', 'Try', 'user'),
    validateSearch: trySearch,
    component: lazyPage(() => import('./try/page.tsx'), 'TryPage'),
  }),
  createRoute({
    ...page('/try/$kind', 'Try', 'user'),
    validateSearch: trySearch,
    component: lazyPage(() => import('./try/page.tsx'), 'TryPage'),
  }),
  createRoute({
    ...page('/tasks', 'Tasks', 'user'),
    validateSearch: search({
      kind: text,
      state: text,
      from: time,
      to: time,
      q: text,
      owner: text,
    }),
    component: lazyPage(() => import('./tasks/list.tsx'), 'TasksPage'),
  }),
  createRoute({
    ...page('/tasks/$task', 'Task', 'user'),
    validateSearch: search({ event: text }),
    component: lazyPage(() => import('./tasks/task.tsx'), 'TaskPage'),
  }),
  createRoute({
    ...page('/registry', 'Registry'),
    validateSearch: search({
      q: text,
      in: oneOf('names', 'host-nodes', 'repository'),
      os: texts,
      accelerator: texts,
      tag: texts,
      sort: text,
    }),
    component: lazyPage(() => import('./registry/search.tsx'), 'RegistryPage'),
  }),
  createRoute({
    ...page('/registry/$node', 'Node'),
    validateSearch: search({ tab: text, 'host-node': text, q: text }),
    component: lazyPage(() => import('./registry/node.tsx'), 'NodePage'),
  }),
  createRoute({
    // {from}...{to}
    ...page('/registry/$node/compare/$range', 'Compare versions'),
    validateSearch: search({ level: text, q: text }),
    component: lazyPage(() => import('./registry/compare.tsx'), 'ComparePage'),
  }),
  createRoute({
    ...page('/registry/$node/$version', 'Version'),
    validateSearch: search({ tab: text, 'host-node': text, q: text, file: text, line: text }),
    component: lazyPage(() => import('./registry/version.tsx'), 'VersionPage'),
  }),
  createRoute({
    ...page('/publishers', 'Publishers', 'user'),
    component: lazyPage(() => import('./publish/publishers.tsx'), 'PublishersPage'),
  }),
  createRoute({
    ...page('/publishers/$publisher', 'Publisher', 'user'),
    validateSearch: search({ tab: text }),
    component: lazyPage(() => import('./publish/publisher.tsx'), 'PublisherPage'),
  }),
  createRoute({
    ...page('/publishers/$publisher/publish', 'Publish', 'user'),
    validateSearch: search({ node: text, version: text }),
    component: lazyPage(() => import('./publish/publish.tsx'), 'PublishPage'),
  }),
  createRoute({
    ...page('/moderation', 'Moderation', 'admin'),
    validateSearch: search({ tab: text, status: text, q: text, node: text, version: text }),
    component: lazyPage(() => import('./moderation/page.tsx'), 'ModerationPage'),
  }),
  createRoute({
    ...page('/operations', 'Operations', 'admin'),
    validateSearch: search({ tab: text }),
    component: lazyPage(() => import('./operations/page.tsx'), 'OperationsPage'),
  }),
  createRoute({
    ...page('/account', 'Account', 'user'),
    component: lazyPage(() => import('./account/page.tsx'), 'AccountPage'),
  }),
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
