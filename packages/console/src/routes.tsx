import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router'
import type { ComponentType } from 'react'

import { day, oneOf, search, SEARCH_FORMAT, someOf, text, texts, time } from './search-params.ts'
import { Frame } from './shell/frame.tsx'
import { lazyPage } from './shell/lazy-page.ts'
import { CrashPage, MissingPage } from './shell/missing.tsx'
import { SORT_WORDS } from './registry/sorts.ts'
import { TASK_STATES, type TaskFilter } from './tasks/list-rows.ts'
import { findKind } from './try/kinds.ts'
import { t } from './words/translate.ts'

/**
 * Users who may see a page; all others read who may. reader: everybody where the registry is public, else users; guest:
 * everybody where visitors are shown samples; holder: users, and whoever has a link with a token.
 */
export type Who = 'all' | 'reader' | 'guest' | 'holder' | 'user' | 'admin'

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

const pageFor =
  (who: Who) =>
  <const Path extends string>(
    path: Path,
    title: string,
    load: () => Promise<{ Page: ComponentType }>,
  ) => ({ getParentRoute: () => root, path, staticData: { title, who }, component: lazyPage(load) })

const open = pageFor('all')
const reader = pageFor('reader')
const guest = pageFor('guest')
const holder = pageFor('holder')
const user = pageFor('user')
const admin = pageFor('admin')

const loadComparison = () => import('./registry/compare.tsx')
const loadTry = () => import('./try/page.tsx')
const trySearch = search({ from: text, use: oneOf('result', 'example'), view: text })

const pages = [
  createRoute(open('/', t('Home'), () => import('./home/page.tsx'))),
  createRoute(open('/signed-in', t('Signing in'), () => import('./account/signed-in.tsx'))),
  createRoute({ ...guest('/try', t('Try'), loadTry), validateSearch: trySearch }),
  createRoute({ ...guest('/try/$kind', t('Try'), loadTry), validateSearch: trySearch }),
  createRoute({
    ...user('/tasks', t('Tasks'), () => import('./tasks/list.tsx')),
    validateSearch: search({
      kind: someOf((id) => findKind(id) !== undefined),
      state: someOf((state) => TASK_STATES.includes(state)),
      from: time,
      to: time,
      q: text,
      label: text,
      owner: text,
    } satisfies Record<keyof TaskFilter, unknown>),
  }),
  createRoute({
    ...user('/tasks/bulk', t('Batches'), () => import('./tasks/bulk.tsx')),
    validateSearch: search({ tab: text, id: text }),
  }),
  createRoute({
    ...holder('/tasks/$task', t('Task'), () => import('./tasks/task.tsx')),
    validateSearch: search({ event: text }),
  }),
  createRoute({
    ...reader('/registry', t('Registry'), () => import('./registry/search.tsx')),
    validateSearch: search({
      q: text,
      in: oneOf('names', 'host-nodes', 'repository'),
      os: texts,
      accelerator: texts,
      license: texts,
      tag: texts,
      sort: oneOf(...SORT_WORDS),
    }),
  }),
  createRoute({
    ...reader('/registry/$node', t('Node'), () => import('./registry/node.tsx')),
    validateSearch: search({ tab: text, 'host-node': text, q: text }),
  }),
  createRoute({
    // {from}...{to}
    ...reader('/registry/$node/compare/$range', t('Compare versions'), loadComparison),
    validateSearch: search({ level: text, q: text }),
  }),
  createRoute({
    ...reader('/registry/$node/$version', t('Version'), () => import('./registry/version.tsx')),
    validateSearch: search({ tab: text, 'host-node': text, q: text, file: text }),
  }),
  createRoute({
    ...reader('/workflows', t('Check a workflow'), () => import('./graph/page.tsx')),
    validateSearch: search({ tab: text, node: text, version: text, path: text }),
  }),
  createRoute(user('/publishers', t('Publishers'), () => import('./publish/publishers.tsx'))),
  createRoute({
    ...reader('/publishers/$publisher', t('Publisher'), () => import('./publish/publisher.tsx')),
    validateSearch: search({ tab: text }),
  }),
  createRoute({
    ...user('/publishers/$publisher/publish', t('Publish'), () => import('./publish/publish.tsx')),
    validateSearch: search({ node: text, version: text }),
  }),
  createRoute({
    ...admin('/moderation', t('Moderation'), () => import('./moderation/page.tsx')),
    validateSearch: search({
      tab: text,
      status: oneOf('review', 'Flagged', 'Pending', 'Active', 'Banned'),
      q: text,
      node: text,
      version: text,
      actor: text,
      action: text,
      address: text,
      from: day,
      to: day,
    }),
  }),
  createRoute({
    ...admin('/operations', t('Operations'), () => import('./operations/page.tsx')),
    validateSearch: search({ tab: text }),
  }),
  createRoute({
    ...user('/account', t('Account'), () => import('./account/page.tsx')),
    validateSearch: search({ tab: text }),
  }),
] as const

export const router = createRouter({
  routeTree: root.addChildren(pages),
  basepath: '/console',
  ...SEARCH_FORMAT,
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultNotFoundComponent: MissingPage,
  defaultErrorComponent: CrashPage,
})
