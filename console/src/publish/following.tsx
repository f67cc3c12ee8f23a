import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'

import type { Schema } from '../api/client.ts'
import { send } from '../api/send.ts'
import { useStream } from '../api/stream.ts'
import { versionQuery } from '../registry/queries.ts'
import { AskButton } from '../ui/ask.tsx'
import { Findings, findingsQuery, versionKey } from '../ui/findings.tsx'
import { LinkButton } from '../ui/link.tsx'
import { Columns, Row } from '../ui/page.tsx'
import { Note, Panel, Show } from '../ui/panels.tsx'
import { Bdi, StateBadge, Time } from '../ui/values.tsx'
import { mayAs, publisherKey, useRole } from './queries.ts'
import { Steps } from './steps.tsx'
import type { Step } from './steps.tsx'

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
  const { queryKey: findings } = findingsQuery(nodeId, version)
  useStream({
    path: `/nodes/${encodeURIComponent(nodeId)}/versions/${encodeURIComponent(version)}/stream`,
    onEvent: ({ event, data }) => {
      if (event === 'steps') setSteps((data as { steps: Step[] }).steps)
      else queries.setQueryData(versionKey(nodeId, version), data)
      void queries.invalidateQueries({ queryKey: findings })
      if (event === 'end') void queries.invalidateQueries({ queryKey: publisherKey(publisherId) })
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
          <LinkButton
            to="/registry/$node/$version"
            params={{ node: of.nodeId, version: version.version }}
          >
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
    <Row>
      <AskButton
        label="Ask for a review"
        title={`Ask for a review of ${version}`}
        action="Ask for a review"
        fields={[NOTE]}
        write={({ note }, headers) =>
          send('POST', '/publishers/{publisherId}/nodes/{nodeId}/versions/{versionId}/review', {
            path: { publisherId, nodeId, versionId },
            body: note ? { note } : {},
            headers,
          })
        }
      />
    </Row>
  )
}
