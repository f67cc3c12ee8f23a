import {
  Ban,
  Check,
  CircleCheck,
  Clock,
  Hourglass,
  LoaderCircle,
  SearchCheck,
  ShieldAlert,
  Trash2,
  X,
} from 'lucide-react'
import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'

import { wordsOf } from '../words/states.ts'
import type { StateIcon, Tone } from '../words/states.ts'
import styles from './show.module.css'

const ICONS: Record<StateIcon, LucideIcon> = {
  waiting: Clock,
  queued: Hourglass,
  running: LoaderCircle,
  done: Check,
  failed: X,
  cancelled: Ban,
  checking: SearchCheck,
  live: CircleCheck,
  held: ShieldAlert,
  removed: Trash2,
}

/** A state in words and with an icon; the API's own word is the tooltip. */
export const StateBadge = ({ state, suffix }: { state: string; suffix?: string }) => {
  const { word, tone, icon } = wordsOf(state)
  const Icon = ICONS[icon]
  return (
    <span className={`${styles.badge} ${tone}`} title={state}>
      <Icon aria-hidden />
      {suffix ? `${word} ${suffix}` : word}
    </span>
  )
}

export const Badge = ({ tone = 'soft', children }: { tone?: Tone; children: ReactNode }) => (
  <span className={`${styles.badge} ${tone}`}>{children}</span>
)
