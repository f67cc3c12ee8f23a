import { useRouterState } from '@tanstack/react-router'

import { tokenIn } from './links.ts'

/** The token that the page has in its address: it reads one task, which the page then shows and does not change. */
export const useTaskToken = (): string | undefined =>
  useRouterState({ select: ({ location }) => tokenIn(location.hash) })
