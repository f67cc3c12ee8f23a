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
const parent = { getParentRoute: () => root }

const home = createRoute({
  ...parent,
  path: '/',
  staticData: { title: 'Home', who: 'all' },
  component: lazyPage(() => import('./home/page.tsx'), 'HomePage'),
})

const signedIn = createRoute({
  ...parent,
  path: '/signed-in',
  staticData: { title: 'Signing in', who: 'all' },
  component: lazyPage(() => import('./account/signed-in.tsx'), 'SignedInPage'),
})

const trySearch = search({ from: text, view: text })

const tryAny = createRoute({
  ...parent,
  path: '/try',
  validateSearch: trySearch,
  staticData: { title: 'Try', who: 'user' },
  component: lazyPage(() => import('./try/page.tsx'), 'TryPage'),
})

const tryKind = createRoute({
  ...parent,
  path: '/try/$kind',
  validateSearch: trySearch,
  staticData: { title: 'Try', who: 'user' },
  component: lazyPage(() => import('./try/page.tsx'), 'TryPage'),
})

const tasks = createRoute({
  ...parent,
  path: '/tasks',
  validateSearch: search({ kind: text, state: text, from: time, to: time, q: text, owner: text }),
  staticData: { title: 'Tasks', who: 'user' },
  component: lazyPage(() => import('./tasks/list.tsx'), 'TasksPage'),
})

const task = createRoute({
  ...parent,
  path: '/tasks/$task',
  validateSearch: search({ event: text }),
  staticData: { title: 'Task', who: 'user' },
  component: lazyPage(() => import('./tasks/task.tsx'), 'TaskPage'),
})

const registry = createRoute({
  ...parent,
  path: '/registry',
  validateSearch: search({
    q: text,
    in: oneOf('names', 'host-nodes', 'repository'),
    os: texts,
    accelerator: texts,
    tag: texts,
    sort: text,
  }),
  staticData: { title: 'Registry', who: 'all' },
  component: lazyPage(() => import('./registry/search.tsx'), 'RegistryPage'),
})

const node = createRoute({
  ...parent,
  path: '/registry/$node',
  validateSearch: search({ tab: text, 'host-node': text, q: text }),
  staticData: { title: 'Node', who: 'all' },
  component: lazyPage(() => import('./registry/node.tsx'), 'NodePage'),
})

const compare = createRoute({
  ...parent,
  // {from}...{to}
  path: '/registry/$node/compare/$range',
  validateSearch: search({ level: text, q: text }),
  staticData: { title: 'Compare versions', who: 'all' },
  component: lazyPage(() => import('./registry/compare.tsx'), 'ComparePage'),
})

const version = createRoute({
  ...parent,
  path: '/registry/$node/$version',
  validateSearch: search({ tab: text, 'host-node': text, q: text, file: text, line: text }),
  staticData: { title: 'Version', who: 'all' },
  component: lazyPage(() => import('./registry/version.tsx'), 'VersionPage'),
})

const publishers = createRoute({
  ...parent,
  path: '/publishers',
  staticData: { title: 'Publishers', who: 'user' },
  component: lazyPage(() => import('./publish/publishers.tsx'), 'PublishersPage'),
})

const publisher = createRoute({
  ...parent,
  path: '/publishers/$publisher',
  validateSearch: search({ tab: text }),
  staticData: { title: 'Publisher', who: 'user' },
  component: lazyPage(() => import('./publish/publisher.tsx'), 'PublisherPage'),
})

const publish = createRoute({
  ...parent,
  path: '/publishers/$publisher/publish',
  validateSearch: search({ node: text, version: text }),
  staticData: { title: 'Publish', who: 'user' },
  component: lazyPage(() => import('./publish/publish.tsx'), 'PublishPage'),
})

const moderation = createRoute({
  ...parent,
  path: '/moderation',
  validateSearch: search({ tab: text, status: text, q: text, node: text, version: text }),
  staticData: { title: 'Moderation', who: 'admin' },
  component: lazyPage(() => import('./moderation/page.tsx'), 'ModerationPage'),
})

const operations = createRoute({
  ...parent,
  path: '/operations',
  validateSearch: search({ tab: text }),
  staticData: { title: 'Operations', who: 'admin' },
  component: lazyPage(() => import('./operations/page.tsx'), 'OperationsPage'),
})

const account = createRoute({
  ...parent,
  path: '/account',
  staticData: { title: 'Account', who: 'user' },
  component: lazyPage(() => import('./account/page.tsx'), 'AccountPage'),
})

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    signedIn,
    tryAny,
    tryKind,
    tasks,
    task,
    registry,
    node,
    compare,
    version,
    publishers,
    publisher,
    publish,
    moderation,
    operations,
    account,
  ]),
  basepath: '/console',
  parseSearch,
  stringifySearch: writeSearch,
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultNotFoundComponent: MissingPage,
  defaultErrorComponent: CrashPage,
})
