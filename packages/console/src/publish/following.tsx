import { useQuery, useQueryClient } from '@tanstack/react-query'
import { CircleCheck, CircleX, Clock, LoaderCircle, ShieldAlert, TriangleAlert } from 'lucide-react'
import { useState } from 'react'

import { useStream } from '../api/stream.ts'
import { Blocked } from '../manage/review.tsx'
import { Reason } from '../registry/host-nodes.tsx'
import { nodeQuery, streamPathOf, versionQuery, type Version } from '../registry/queries.ts'
import { Findings, findingsQuery } from '../ui/findings.tsx'
import { LinkButton, nodePage } from '../ui/link.tsx'
import { Columns, Note, Panel, Show } from '../ui/panels.tsx'
import { Bdi, Hidden, StateBadge, Time } from '../ui/values.tsx'
import { t } from '../words/translate.ts'
import styles from './publish.module.css'
import { publisherQuery } from './queries.ts'

interface Step {
  step: keyof typeof STEPS
  state: 'waiting' | 'running' | 'done' | 'failed' | 'held'
  at?: string
}

const STEPS = {
  received: t('Archive received'),
  read: t('Archive read'),
  scanned: t('Code scanned'),
  host_nodes: t('Nodes read'),
  active: t('Published'),
}

/** Words of the last step where a version is not published. */
const ENDS: Readonly<Record<string, string>> = {
  NodeVersionStatusFlagged: t('Flagged'),
  NodeVersionStatusBanned: t('Banned'),
  NodeVersionStatusDeleted: t('Deleted'),
}

const markOf = ({ step, state, at }: Step, { status }: Version): Mark => ({
  state,
  text: (step === 'active' ? ENDS[status] : undefined) ?? STEPS[step],
  at,
})

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
          <Panel title={t('Steps')} actions={<StateBadge state={data.status} />}>
            {steps.length > 0 && (
              <Marks label={t('Steps')} of={steps.map((step) => markOf(step, data))} />
            )}
            <Verdict version={data} />
          </Panel>
          <Panel title={t('Findings')}>
            <Findings nodeId={nodeId} version={version} />
          </Panel>
        </Columns>
      )}
    </Show>
  )
}

const Verdict = ({ version }: { version: Version }) => {
  const { node_id: nodeId, status } = version
  const reason = <Bdi>{version.status_reason}</Bdi>
  if (status === 'NodeVersionStatusActive')
    return (
      <Note tone="ok">
        <Live version={version} />
        {version.host_node_extract_reason && <Reason version={version} />}
        <LinkButton {...nodePage(nodeId)}>{t('View in registry')}</LinkButton>
      </Note>
    )
  if (status === 'NodeVersionStatusFlagged' || status === 'NodeVersionStatusBanned')
    return (
      <Note tone={status === 'NodeVersionStatusFlagged' ? 'warn' : 'bad'}>
        <Blocked version={version} />
      </Note>
    )
  return <Note tone={status === 'NodeVersionStatusPending' ? 'info' : 'bad'}>{reason}</Note>
}

/** Says who gets an active version: another one may be the latest. */
const Live = ({ version: { node_id: nodeId, version } }: { version: Version }) => {
  const latest = useQuery(nodeQuery(nodeId)).data?.latest_version?.version
  return latest === undefined || latest === version ? (
    <p>{t('{version} is published. Everybody can see and install it.', { version })}</p>
  ) : (
    <p>
      {t(
        '{version} is published, and {latest} stays Latest. Publish a higher version to change that.',
        { version, latest },
      )}
    </p>
  )
}

/** Icons of the states, each with the class of its colour. */
const ICONS = {
  ok: [CircleCheck, 'ok', t('ok')],
  warn: [TriangleAlert, 'warn', t('warning')],
  bad: [CircleX, 'bad', t('error')],
  waiting: [Clock, 'soft', t('waiting')],
  running: [LoaderCircle, 'info', t('running')],
  done: [CircleCheck, 'ok', t('done')],
  failed: [CircleX, 'bad', t('failed')],
  held: [ShieldAlert, 'warn', t('on hold')],
} as const

type Mark = { state: keyof typeof ICONS; text: string; at?: string }

/** Checks or steps, each with an icon for its state, which is also read out. */
export const Marks = ({ label, of }: { label: string; of: readonly Mark[] }) => (
  <ol className={`stack tight ${styles.steps}`} aria-label={label}>
    {of.map(({ state, text, at }) => {
      const [Icon, tone, word] = ICONS[state]
      return (
        <li
          key={text}
          className={state === 'waiting' ? 'soft' : ''}
          aria-current={state === 'running' ? 'step' : undefined}
        >
          <Icon className={tone} aria-hidden />
          <span>
            <Bdi>{text}</Bdi> <Hidden>({word})</Hidden>
          </span>
          {at && <Time at={at} />}
        </li>
      )
    })}
  </ol>
)
