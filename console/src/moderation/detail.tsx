import { useQuery } from '@tanstack/react-query'
import { ArrowLeft } from 'lucide-react'
import { useState } from 'react'

import { readQuery } from '../api/read.ts'
import { send } from '../api/send.ts'
import { AskButton } from '../ui/ask.tsx'
import { Button } from '../ui/button.tsx'
import { Findings, findingsQuery, versionKey } from '../ui/findings.tsx'
import { Link } from '../ui/link.tsx'
import { Row, Stack } from '../ui/page.tsx'
import { Empty, Note, Show } from '../ui/panels.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Bdi, StateBadge, Time } from '../ui/values.tsx'
import { wordsOf } from '../words/states.ts'
import { BanButton } from './bans.tsx'
import { Changes } from './changes.tsx'
import type { Sides } from './changes.tsx'
import { Comparison } from './comparison.tsx'
import { Decide } from './decide.tsx'
import styles from './moderation.module.css'
import type { Version } from './queries.ts'

interface DetailProps {
  /** `{node}@{version}`. */
  id: string
  /** What the list tells of it. */
  listed: Version | undefined
  onBack(): void
}

/** One version with all that a decision needs. What the list told of it is shown at once. */
export const Detail = ({ id, listed, onBack }: DetailProps) => {
  const [nodeId = '', number = ''] = id.split('@')
  const read = useQuery({
    // Alone the list tells what moderation needs to know of a version.
    ...readQuery([...versionKey(nodeId, number), 'moderation'], '/versions', {
      query: { nodeId, pageSize: 100 },
    }),
    select: ({ versions }) => versions.find(({ version }) => version === number) ?? null,
    placeholderData: listed && {
      versions: [listed],
      total: 1,
      page: 1,
      pageSize: 1,
      totalPages: 1,
    },
  })
  return (
    <Stack>
      <div className={styles.back}>
        <Button onPress={onBack}>
          <ArrowLeft aria-hidden />
          All versions
        </Button>
      </div>
      <Show query={read}>
        {(version) =>
          version ? <Judged version={version} /> : <Empty>There is no version {id}.</Empty>
        }
      </Show>
    </Stack>
  )
}

const Judged = ({ version }: { version: Version }) => {
  const { node_id: nodeId, version: number, status, moderation } = version
  const { publisher, review, previous_version: previous } = moderation ?? {}
  const [part, setPart] = useState('findings')
  const of = { nodeId, version: number, previous }
  const isRetriable =
    status === 'NodeVersionStatusPending' || version.host_node_extract_status === 'failed'
  const tabs = [
    { id: 'findings', title: 'Findings', content: <Findings {...of} /> },
    { id: 'changes', title: 'Changed files', content: <Changes {...of} /> },
    { id: 'comparison', title: 'Host nodes', content: <Comparison {...of} /> },
    { id: 'moves', title: 'Moves', content: <Moves {...of} /> },
  ]
  return (
    <>
      <Row>
        <h2>
          <Link to="/registry/$node/$version" params={{ node: nodeId, version: number }}>
            <Bdi>{`${nodeId} ${number}`}</Bdi>
          </Link>
        </h2>
        <StateBadge state={status} />
        {publisher && (
          <span>
            of{' '}
            <Link to="/publishers/$publisher" params={{ publisher: publisher.id }}>
              <Bdi>{publisher.name}</Bdi>
            </Link>
            , <Time at={version.createdAt} />
          </span>
        )}
      </Row>
      <p>
        <Bdi>{version.status_reason}</Bdi>
      </p>
      {review && (
        <Note>
          <p>
            A review was asked for <Time at={review.createdAt} />:{' '}
            <Bdi>{review.note ?? 'without a note'}</Bdi>
          </p>
        </Note>
      )}
      <Row>
        <Decide versions={[version]} />
        {isRetriable && (
          <AskButton
            label="Check again"
            title={`Check ${nodeId} ${number} again?`}
            action="Check again"
            write={(_, headers) =>
              send('POST', '/admin/nodes/{nodeId}/versions/{version}/retry', {
                path: { nodeId, version: number },
                headers,
              })
            }
          />
        )}
        <BanButton kind="node" id={nodeId} />
        {publisher && <BanButton kind="publisher" id={publisher.id} />}
      </Row>
      <Tabs label="About the version" tabs={tabs} selected={part} onSelect={setPart} />
    </>
  )
}

const Moves = ({ nodeId, version }: Sides) => (
  <Show query={useQuery(findingsQuery(nodeId, version))}>
    {({ moves = [] }) => (
      <ol className={styles.files}>
        {moves.map(({ at, to, from, actor, reason }) => (
          <li key={at + to}>
            <Time at={at} /> <StateBadge state={to} /> by <Bdi>{actor.replace(/^user:/, '')}</Bdi>:{' '}
            <Bdi>{reason}</Bdi> {from && `(was ${wordsOf(from).word})`}
          </li>
        ))}
      </ol>
    )}
  </Show>
)
