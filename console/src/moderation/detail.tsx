import { useQuery } from '@tanstack/react-query'
import { ArrowLeft } from 'lucide-react'
import { useState } from 'react'

import { answerOf, api } from '../api/client.ts'
import { compareQuery } from '../registry/queries.ts'
import { LEVEL_WORDS } from '../registry/verdict.tsx'
import { AskButton } from '../ui/ask.tsx'
import { Badge, StateBadge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Findings, findingsQuery, versionKey } from '../ui/findings.tsx'
import { Link } from '../ui/link.tsx'
import { Row, Stack } from '../ui/page.tsx'
import { Empty, Note, Show } from '../ui/panels.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Bdi } from '../ui/text.tsx'
import { Time } from '../ui/values.tsx'
import { wordsOf } from '../words/states.ts'
import { counted } from '../words/text.ts'
import { BanButton } from './bans.tsx'
import { Changes } from './changes.tsx'
import { Decide } from './decide.tsx'
import styles from './moderation.module.css'
import { readKey, VERSIONS_KEY } from './queries.ts'
import type { Version } from './queries.ts'

/** One version with all that a decision needs. What the list told of it is shown at once. */
export const Detail = ({
  id,
  listed,
  onBack,
}: {
  id: string
  listed: Version | undefined
  onBack(): void
}) => {
  const [nodeId, number] = readKey(id)
  const read = useQuery({
    queryKey: [...versionKey(nodeId, number), 'moderation'],
    // Alone the list tells what moderation needs to know of a version.
    queryFn: ({ signal }) =>
      answerOf(
        api.GET('/versions', {
          params: { query: { nodeId, pageSize: 100 } },
          signal,
        }),
      ).then(({ versions }) => versions.find(({ version }) => version === number) ?? null),
    initialData: listed,
    initialDataUpdatedAt: 0,
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
  const { node_id: nodeId, version: number, moderation } = version
  const [part, setPart] = useState<string>('findings')
  const previous = moderation?.previous_version
  const of = { nodeId, version: number, previous }
  const isRetriable =
    version.status === 'NodeVersionStatusPending' || version.host_node_extract_status === 'failed'
  return (
    <>
      <Row>
        <h2>
          <Link to="/registry/$node/$version" params={{ node: nodeId, version: number }}>
            <Bdi>{`${nodeId} ${number}`}</Bdi>
          </Link>
        </h2>
        <StateBadge state={version.status} />
        {moderation && (
          <span>
            of{' '}
            <Link to="/publishers/$publisher" params={{ publisher: moderation.publisher.id }}>
              <Bdi>{moderation.publisher.name}</Bdi>
            </Link>
            , <Time at={version.createdAt} />
          </span>
        )}
      </Row>
      <p>
        <Bdi>{version.status_reason}</Bdi>
      </p>
      {moderation?.review && (
        <Note>
          <p>
            A review was asked for <Time at={moderation.review.createdAt} />:{' '}
            <Bdi>{moderation.review.note ?? 'without a note'}</Bdi>
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
              answerOf(
                api.POST('/admin/nodes/{nodeId}/versions/{version}/retry', {
                  params: { path: { nodeId, version: number } },
                  headers,
                }),
              )
            }
            refresh={[VERSIONS_KEY, ['version']]}
          />
        )}
        <BanButton kind="node" id={nodeId} />
        {moderation && <BanButton kind="publisher" id={moderation.publisher.id} />}
      </Row>
      <Tabs
        label="About the version"
        tabs={PARTS.map(({ show, ...one }) => ({ ...one, content: () => show(of) }))}
        selected={part}
        onSelect={setPart}
      />
    </>
  )
}

interface Compared {
  nodeId: string
  version: string
  /** Undefined: no live version is below it. */
  previous: string | undefined
}

const SHOWN = 100

const Comparison = ({ nodeId, version, previous = '' }: Compared) => {
  const compared = useQuery({
    ...compareQuery(nodeId, { from: previous, to: version }),
    enabled: previous !== '',
    // It changes once the version is checked again.
    staleTime: 0,
  })
  if (previous === '') return <Empty>There is no live version below it to compare with.</Empty>
  return (
    <Show query={compared}>
      {({ verdict, counts, changes }) => (
        <Stack>
          <p>
            {verdict === 'none'
              ? 'The host nodes of one side could not be read.'
              : `Changes against ${previous}: ${counts.breaks} breaking, ${counts.may_break} perhaps breaking, ${counts.safe} safe. `}
            <Link
              to="/registry/$node/compare/$range"
              params={{ node: nodeId, range: `${previous}...${version}` }}
            >
              See the cards
            </Link>
          </p>
          <ul className={styles.files}>
            {changes.slice(0, SHOWN).map((change, index) => (
              <li key={index}>
                <Badge tone={LEVEL_WORDS[change.level].tone}>
                  {LEVEL_WORDS[change.level].word}
                </Badge>{' '}
                <Bdi>{change.host_node}</Bdi>: <Bdi>{change.message}</Bdi>
              </li>
            ))}
          </ul>
          {changes.length > SHOWN && <p>And {counted(changes.length - SHOWN, 'change')} more.</p>}
        </Stack>
      )}
    </Show>
  )
}

const Moves = ({ nodeId, version }: Compared) => {
  const findings = useQuery(findingsQuery(nodeId, version))
  return (
    <Show query={findings}>
      {({ moves = [] }) => (
        <ol className={styles.files}>
          {moves.map((move) => (
            <li key={move.at + move.to}>
              <Time at={move.at} /> <StateBadge state={move.to} /> by{' '}
              <Bdi>{move.actor.replace(/^user:/, '')}</Bdi>: <Bdi>{move.reason}</Bdi>{' '}
              {move.from && `(was ${wordsOf(move.from).word})`}
            </li>
          ))}
        </ol>
      )}
    </Show>
  )
}

const PARTS = [
  { id: 'findings', title: 'Findings', show: (of: Compared) => <Findings {...of} /> },
  { id: 'changes', title: 'Changed files', show: (of: Compared) => <Changes {...of} /> },
  { id: 'comparison', title: 'Host nodes', show: (of: Compared) => <Comparison {...of} /> },
  { id: 'moves', title: 'Moves', show: (of: Compared) => <Moves {...of} /> },
]
