import { useQuery, useQueryClient } from '@tanstack/react-query'
import { CircleCheck, CircleX, Clock, LoaderCircle, ShieldAlert, TriangleAlert } from 'lucide-react'
import { useState, type ReactNode } from 'react'

import { send, type Schema } from '../api/client.ts'
import { useStream } from '../api/stream.ts'
import { streamPathOf, versionQuery } from '../registry/queries.ts'
import { AskButton } from '../ui/ask.tsx'
import { Findings, findingsQuery } from '../ui/findings.tsx'
import { LinkButton, versionPage } from '../ui/link.tsx'
import { Columns, Note, Panel, Show } from '../ui/panels.tsx'
import { Bdi, Hidden, StateBadge, Time } from '../ui/values.tsx'
import type { Check } from './pack.ts'
import styles from './publish.module.css'
import { mayAs, publisherQuery, useRole } from './queries.ts'

interface OfVersion {
  publisherId: string
  nodeId: string
  version: string
}

/** A version from its upload to the verdict, as the service takes its steps. */
export const Following = (of: OfVersion) => {
  const { publisherId, nodeId, version } = of
  const queries = useQueryClient()
  const read = useQuery(versionQuery(nodeId, version))
  const [steps, setSteps] = useState<Step[]>([])
  const { queryKey } = versionQuery(nodeId, version)
  const { queryKey: findings } = findingsQuery(nodeId, version)
  useStream({
    path: streamPathOf(nodeId, version),
    onEvent: ({ event, data }) => {
      if (event === 'steps') setSteps((data as { steps: Step[] }).steps)
      else queries.setQueryData(queryKey, data as Schema<'NodeVersion'>)
      void queries.invalidateQueries({ queryKey: findings })
      if (event === 'end') void queries.invalidateQueries(publisherQuery(publisherId))
    },
    poll: async () => {
      const { data } = await read.refetch()
      await queries.invalidateQueries({ queryKey: findings })
      return data?.status === 'NodeVersionStatusPending' ? 2 : 15
    },
  })
  return (
    <Show query={read}>
      {(data) => (
        <Columns>
          <Panel title="Steps" actions={<StateBadge state={data.status} />}>
            {steps.length > 0 && <Steps steps={steps} />}
            <Verdict of={of} version={data} />
          </Panel>
          <Panel title="Findings">
            <Findings nodeId={nodeId} version={version} />
          </Panel>
        </Columns>
      )}
    </Show>
  )
}

const Verdict = ({ of, version }: { of: OfVersion; version: Schema<'NodeVersion'> }) => {
  const reason = <Bdi>{version.status_reason}</Bdi>
  switch (version.status) {
    case 'NodeVersionStatusActive':
      return (
        <Note tone="ok">
          <p>{version.version} is live: whoever installs the node gets it.</p>
          <LinkButton {...versionPage(of.nodeId, version.version)}>
            Look at it in the registry
          </LinkButton>
        </Note>
      )
    case 'NodeVersionStatusFlagged':
      return (
        <Note tone="warn">
          <p>It is held back: installs get the version before. {reason}</p>
          <p>Mend it and publish a new version, or ask for a review if this is no fault.</p>
          <Review of={of} versionId={version.id} />
        </Note>
      )
    default:
      return (
        <Note tone={version.status === 'NodeVersionStatusPending' ? 'info' : 'bad'}>{reason}</Note>
      )
  }
}

const NOTE = {
  name: 'note',
  label: 'Note for the reviewer',
  help: 'Why what was found is needed, and does no harm.',
  isOptional: true,
  rows: 4,
}

/** The open request for a review, or the button by which owners ask for one. */
const Review = ({ of, versionId }: { of: OfVersion; versionId: string }) => {
  const { publisherId, nodeId, version } = of
  const { data } = useQuery(findingsQuery(nodeId, version))
  const role = useRole(publisherId)
  const open = data?.reviews?.find(({ closed_at: closed }) => closed === undefined)
  if (open)
    return (
      <p>
        A review was asked for <Time at={open.createdAt} />. A platform admin decides.
      </p>
    )
  if (!mayAs(role, 'owner')) return <p>An owner of the publisher can ask for a review.</p>
  return (
    <AskButton
      label="Ask for a review"
      title={`Ask for a review of ${version}`}
      fields={[NOTE]}
      write={({ note }) =>
        send('POST', '/publishers/{publisherId}/nodes/{nodeId}/versions/{versionId}/review', {
          path: { publisherId, nodeId, versionId },
          body: note ? { note } : {},
        })
      }
    />
  )
}

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
  <ul className={`stack tight ${styles.steps}`} aria-label="Checks">
    {checks.map(({ tone, text }) => (
      <Line key={text} state={tone}>
        <Bdi>{text}</Bdi>
      </Line>
    ))}
  </ul>
)

interface Step {
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
const Steps = ({ steps }: { steps: readonly Step[] }) => (
  <ol className={`stack tight ${styles.steps}`} aria-label="Steps">
    {steps.map(({ step, state, at }) => (
      <Line key={step} state={state} at={at}>
        {step === 'active' && state === 'held' ? 'Held back' : STEP_WORDS[step]}
      </Line>
    ))}
  </ol>
)
