import { useQuery, useQueryClient } from '@tanstack/react-query'
import { CircleCheck, CircleX, Clock, LoaderCircle, ShieldAlert, TriangleAlert } from 'lucide-react'
import { useState } from 'react'

import { send } from '../api/client.ts'
import { useStream } from '../api/stream.ts'
import { Reason } from '../registry/host-nodes.tsx'
import { nodeQuery, streamPathOf, versionQuery, type Version } from '../registry/queries.ts'
import { AskButton } from '../ui/ask.tsx'
import { Findings, findingsQuery } from '../ui/findings.tsx'
import { LinkButton, versionPage } from '../ui/link.tsx'
import { Columns, Note, Panel, Show } from '../ui/panels.tsx'
import { Bdi, Hidden, StateBadge, Time } from '../ui/values.tsx'
import styles from './publish.module.css'
import { mayAs, publisherQuery, useRole } from './queries.ts'

interface Step {
  step: keyof typeof STEPS
  state: 'waiting' | 'running' | 'done' | 'failed' | 'held'
  at?: string
}

const STEPS = {
  received: 'Archive received',
  read: 'Archive read',
  scanned: 'Code scanned',
  host_nodes: 'Host nodes read',
  active: 'Live: installs get it',
}

const markOf = ({ step, state, at }: Step): Mark => {
  const isHeldBack = step === 'active' && state === 'held'
  return { state, text: isHeldBack ? 'Held back' : STEPS[step], at }
}

type FollowingProps = { publisherId: string; nodeId: string; version: string }

/** A version from its upload to the verdict, as the service takes its steps. */
export const Following = ({ publisherId, nodeId, version }: FollowingProps) => {
  const queries = useQueryClient()
  const read = useQuery(versionQuery(nodeId, version))
  const [steps, setSteps] = useState<readonly Step[]>([])
  useStream({
    path: streamPathOf(nodeId, version),
    onEvent: ({ event, data }) => {
      if (event === 'steps') setSteps((data as { steps: Step[] }).steps)
      else queries.setQueryData(versionQuery(nodeId, version).queryKey, data as Version)
      void queries.invalidateQueries(findingsQuery(nodeId, version))
      if (event === 'end') void queries.invalidateQueries(publisherQuery(publisherId))
    },
    poll: async () => {
      const { data } = await read.refetch()
      await queries.invalidateQueries(findingsQuery(nodeId, version))
      return data?.status === 'NodeVersionStatusPending' ? 2 : 15
    },
  })
  return (
    <Show query={read}>
      {(data) => (
        <Columns>
          <Panel title="Steps" actions={<StateBadge state={data.status} />}>
            {steps.length > 0 && <Marks label="Steps" of={steps.map(markOf)} />}
            <Verdict publisherId={publisherId} version={data} />
          </Panel>
          <Panel title="Findings">
            <Findings nodeId={nodeId} version={version} />
          </Panel>
        </Columns>
      )}
    </Show>
  )
}

type OfVersion = { publisherId: string; version: Version }

const Verdict = ({ publisherId, version }: OfVersion) => {
  const { node_id: nodeId, version: number, status } = version
  const reason = <Bdi>{version.status_reason}</Bdi>
  if (status === 'NodeVersionStatusActive')
    return (
      <Note tone="ok">
        <Live version={version} />
        {version.host_node_extract_reason && <Reason version={version} />}
        <LinkButton {...versionPage(nodeId, number)}>Look at it in the registry</LinkButton>
      </Note>
    )
  if (status === 'NodeVersionStatusFlagged')
    return (
      <Note tone="warn">
        <p>It is held back: installs get the version before. {reason}</p>
        <p>Mend it and publish a new version, or ask for a review if this is a mistake.</p>
        <Review publisherId={publisherId} version={version} />
      </Note>
    )
  return <Note tone={status === 'NodeVersionStatusPending' ? 'info' : 'bad'}>{reason}</Note>
}

/** Says who gets an active version: another one may be the latest. */
const Live = ({ version: { node_id: nodeId, version } }: { version: Version }) => {
  const latest = useQuery(nodeQuery(nodeId)).data?.latest_version?.version
  return latest === undefined || latest === version ? (
    <p>{version} is live: whoever installs the node gets it.</p>
  ) : (
    <p>
      {version} is live for those who ask for it. Installs get {latest}, which is the latest:
      publish a higher number to change that.
    </p>
  )
}

const NOTE = {
  name: 'note',
  label: 'Note for the reviewer',
  help: 'Why what was found is needed, and does no harm.',
  isOptional: true,
  rows: 4,
}

const REVIEW = '/publishers/{publisherId}/nodes/{nodeId}/versions/{versionId}/review'

/** The open request for a review, or the button by which owners ask for one. */
const Review = ({ publisherId, version }: OfVersion) => {
  const { id: versionId, node_id: nodeId, version: number } = version
  const { data } = useQuery(findingsQuery(nodeId, number))
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
      title={`Ask for a review of ${number}`}
      fields={[NOTE]}
      write={({ note }) => {
        const path = { publisherId, nodeId, versionId }
        return send('POST', REVIEW, { path, body: note ? { note } : {} })
      }}
    />
  )
}

/** Icons of the states, each with the class of its colour. */
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

type Mark = { state: keyof typeof ICONS; text: string; at?: string }

/** Checks or steps, each with an icon for its state, which is also read out. */
export const Marks = ({ label, of }: { label: string; of: readonly Mark[] }) => (
  <ol className={`stack tight ${styles.steps}`} aria-label={label}>
    {of.map(({ state, text, at }) => {
      const [Icon, tone] = ICONS[state]
      return (
        <li
          key={text}
          className={state === 'waiting' ? 'soft' : ''}
          aria-current={state === 'running' ? 'step' : undefined}
        >
          <Icon className={tone} aria-hidden />
          <span>
            <Bdi>{text}</Bdi> <Hidden>({state})</Hidden>
          </span>
          {at && <Time at={at} />}
        </li>
      )
    })}
  </ol>
)
