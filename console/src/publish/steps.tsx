import { CircleCheck, CircleX, Clock, LoaderCircle, ShieldAlert, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'

import { Bdi, Hidden, Time } from '../ui/values.tsx'
import type { Check } from './pack.ts'
import styles from './publish.module.css'

/** Of each state its icon, and the class of its colour. */
const ICONS = {
  ok: [CircleCheck, 'ok'],
  warn: [TriangleAlert, 'warn'],
  bad: [CircleX, 'bad'],
  waiting: [Clock, 'soft'],
  running: [LoaderCircle, 'info'],
  done: [CircleCheck, 'ok'],
  failed: [CircleX, 'bad'],
  held: [ShieldAlert, 'warn'],
} as const

interface LineProps {
  state: keyof typeof ICONS
  at?: string
  children: ReactNode
}

/** One line of a list of checks or steps, with an icon for its state, which is also read out. */
const Line = ({ state, at, children }: LineProps) => {
  const [Icon, tone] = ICONS[state]
  return (
    <li
      className={state === 'waiting' ? 'soft' : ''}
      aria-current={state === 'running' ? 'step' : undefined}
    >
      <Icon className={tone} aria-hidden />
      <span>
        {children} <Hidden>({state})</Hidden>
      </span>
      {at && <Time at={at} />}
    </li>
  )
}

/** What was found before anything is sent. */
export const Checks = ({ checks }: { checks: readonly Check[] }) => (
  <ul className={styles.steps} aria-label="Checks">
    {checks.map(({ tone, text }) => (
      <Line key={text} state={tone}>
        <Bdi>{text}</Bdi>
      </Line>
    ))}
  </ul>
)

export interface Step {
  step: 'received' | 'read' | 'scanned' | 'host_nodes' | 'active'
  state: 'waiting' | 'running' | 'done' | 'failed' | 'held'
  at?: string
}

const STEP_WORDS = {
  received: 'Archive received',
  read: 'Archive read',
  scanned: 'Code scanned',
  host_nodes: 'Host nodes read',
  active: 'Live: installs get it',
}

/** The steps that the service takes, as they happen. */
export const Steps = ({ steps }: { steps: readonly Step[] }) => (
  <ol className={styles.steps} aria-label="Steps">
    {steps.map(({ step, state, at }) => (
      <Line key={step} state={state} at={at}>
        {step === 'active' && state === 'held' ? 'Held back' : STEP_WORDS[step]}
      </Line>
    ))}
  </ol>
)
