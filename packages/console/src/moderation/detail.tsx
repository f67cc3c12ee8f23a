import { useQuery } from '@tanstack/react-query'
import { ArrowLeft } from 'lucide-react'
import { Suspense, useState } from 'react'

import { readQuery, send } from '../api/client.ts'
import { lazyPart } from '../shell/lazy-page.ts'
import { Actions } from '../ui/actions.tsx'
import { AskButton } from '../ui/ask.tsx'
import { Button } from '../ui/button.tsx'
import { Findings, findingsQuery } from '../ui/findings.tsx'
import { Link, publisherPage, versionPage } from '../ui/link.tsx'
import { Empty, Loading, Note, Row, Show, Stack } from '../ui/panels.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Bdi, StateBadge, Time } from '../ui/values.tsx'
import { wordsOf } from '../words/states.ts'
import { rich, t } from '../words/translate.ts'
import { banOf } from './bans.tsx'
import type { Sides } from './changes.tsx'
import { Decide, type Version } from './decide.tsx'
import { BannedPublishers, SameContent } from './related.tsx'

// What compares the lines of files is large.
const Changes = lazyPart(async () => (await import('./changes.tsx')).Changes)
const Comparison = lazyPart(async () => (await import('./changes.tsx')).Comparison)

interface DetailProps {
  /** `{node}@{version}`. */
  id: string
  /** The version in the list. */
  listed: Version | undefined
  onBack(): void
}

/** One version with all that a decision needs. What the list holds of it is shown at once, and is read again with it. */
export const Detail = ({ id, listed, onBack }: DetailProps) => {
  const [nodeId = '', number = ''] = id.split('@')
  const read = useQuery({
    // Only the list has what moderation needs to know of a version.
    ...readQuery('/versions', { query: { nodeId, pageSize: 100 } }),
    select: ({ versions }) => versions.find(({ version }) => version === number) ?? null,
  })
  return (
    <Stack>
      <div className="phone">
        <Button onPress={onBack}>
          <ArrowLeft aria-hidden />
          {t('All versions')}
        </Button>
      </div>
      <Show query={{ ...read, data: listed ?? read.data }}>
        {(version) =>
          version ? (
            <CheckedPack version={version} />
          ) : (
            <Empty>{t('Version {id} not found', { id })}</Empty>
          )
        }
      </Show>
    </Stack>
  )
}

const CheckedPack = ({ version }: { version: Version }) => {
  const { node_id: nodeId, version: number, status, moderation } = version
  const { publisher, review, previous_version: previous } = moderation ?? {}
  const [part, setPart] = useState('findings')
  const { data: found } = useQuery(findingsQuery(nodeId, number))
  const of = { nodeId, version: number, previous }
  const isRetriable =
    status === 'NodeVersionStatusPending' || version.host_node_extract_status === 'failed'
  const tabs = {
    findings: [t('Findings'), <Findings key="findings" {...of} />],
    changes: [t('Changed files'), <Changes key="changes" {...of} />],
    comparison: [t('Nodes'), <Comparison key="comparison" {...of} />],
    moves: [t('History'), <Transitions key="moves" {...of} />],
  } as const
  return (
    <>
      <Row>
        <h2>
          <Link {...versionPage(nodeId, number)}>{`${nodeId} ${number}`}</Link>
        </h2>
        <StateBadge state={status} />
        {publisher && (
          <span>
            {rich('of {publisher}', {
              publisher: <Link {...publisherPage(publisher.id)}>{publisher.name}</Link>,
            })}
            , <Time at={version.createdAt} />
          </span>
        )}
      </Row>
      <Bdi as="p">{version.status_reason}</Bdi>
      <SameContent of={found?.same_content} />
      {publisher && <BannedPublishers id={publisher.id} />}
      {review && (
        <Note>
          {rich(review.note ? t('Review requested {time}:') : t('Review requested {time}'), {
            time: <Time at={review.createdAt} />,
          })}{' '}
          <Bdi>{review.note}</Bdi>
        </Note>
      )}
      <Row>
        <Decide versions={[version]} />
        {isRetriable && (
          <AskButton
            label={t('Check again')}
            title={t('Check {nodeId} {number} again?', { nodeId, number })}
            write={() =>
              send('POST', '/admin/nodes/{nodeId}/versions/{version}/retry', {
                path: { nodeId, version: number },
              })
            }
          />
        )}
        <Actions
          label={t('Ban')}
          actions={[banOf('node', nodeId), publisher && banOf('publisher', publisher.id)]}
        />
      </Row>
      <Suspense fallback={<Loading />}>
        <Tabs label={t('About the version')} tabs={tabs} selected={part} onSelect={setPart} />
      </Suspense>
    </>
  )
}

const Transitions = ({ nodeId, version }: Sides) => (
  <Show query={useQuery(findingsQuery(nodeId, version))}>
    {({ moves = [] }) => (
      <ol className="stack tight">
        {moves.map(({ at, to, from, actor, reason }) => (
          <li key={at + to}>
            <Time at={at} /> <StateBadge state={to} />{' '}
            {rich('by {actor}:', { actor: <Bdi>{actor.replace(/^user:/, '')}</Bdi> })}{' '}
            <Bdi>{reason}</Bdi> {from && t('(was {state})', { state: wordsOf(from).word })}
          </li>
        ))}
      </ol>
    )}
  </Show>
)
