import {
  Activity,
  House,
  Images,
  Package,
  Scale,
  UsersRound,
  WandSparkles,
  Workflow,
} from 'lucide-react'

import { useMe } from '../api/queries.ts'

/** The pages of the bar. On a phone the first four are tabs, the rest lie behind More. `g` and the letter lead there. */
export const PAGES = [
  { to: '/', title: 'Home', Icon: House, who: 'all', letter: 'h' },
  { to: '/try', title: 'Try', Icon: WandSparkles, who: 'user', letter: 't' },
  { to: '/tasks', title: 'Tasks', Icon: Images, who: 'user', letter: 'a' },
  { to: '/registry', title: 'Registry', Icon: Package, who: 'all', letter: 'r' },
  { to: '/workflows', title: 'Workflows', Icon: Workflow, who: 'all', letter: 'w' },
  { to: '/publishers', title: 'Publishers', Icon: UsersRound, who: 'user', letter: 'p' },
  { to: '/moderation', title: 'Moderation', Icon: Scale, who: 'admin', letter: 'm' },
  { to: '/operations', title: 'Operations', Icon: Activity, who: 'admin', letter: 'o' },
] as const

export type PageLinkSpec = (typeof PAGES)[number]

/** Those that are offered. */
export const usePages = (): readonly PageLinkSpec[] => {
  const isAdmin = useMe()?.isAdmin === true
  return PAGES.filter(({ who }) => who !== 'admin' || isAdmin)
}
