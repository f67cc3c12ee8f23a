import type { ReactNode } from 'react'

import { showControls } from '../words/text.ts'

/** What a stranger wrote: text alone, apart from the direction of what stands around it, with its hidden characters shown. */
export const Bdi = ({ children }: { children: string | undefined }) => (
  <bdi>{showControls(children ?? '')}</bdi>
)

/** Text for screen readers alone. */
export const Hidden = ({ children }: { children: ReactNode }) => (
  <span className="hidden-text">{children}</span>
)
