import { House, Images, Package, WandSparkles } from 'lucide-react'

import { useMe } from '../api/queries.ts'
import { t } from '../words/translate.ts'

/** The pages of the bar. On a phone the first four are tabs, the rest lie behind More. `g` and the letter lead there. */
export const PAGES = [
  { to: '/', title: t('Home'), who: 'all', letter: 'h' },
  { to: '/try', title: t('Try'), who: 'user', letter: 't' },
  { to: '/tasks', title: t('Tasks'), who: 'user', letter: 'a' },
  { to: '/registry', title: t('Registry'), who: 'all', letter: 'r' },
  { to: '/workflows', title: t('Workflows'), who: 'all', letter: 'w' },
  { to: '/publishers', title: t('Publishers'), who: 'user', letter: 'p' },
  { to: '/moderation', title: t('Moderation'), who: 'admin', letter: 'm' },
  { to: '/operations', title: t('Operations'), who: 'admin', letter: 'o' },
] as const

/** Icons of the tabs. */
export const TAB_ICONS = [House, WandSparkles, Images, Package]

export type PageLinkSpec = (typeof PAGES)[number]

/** Those that are offered. */
export const usePages = (): readonly PageLinkSpec[] => {
  const isAdmin = useMe()?.isAdmin === true
  return PAGES.filter(({ who }) => who !== 'admin' || isAdmin)
}
