import { useQuery } from '@tanstack/react-query'

import { StateBadge } from '../ui/badge.tsx'
import { countsInWords, Findings as FindingList, findingsQuery } from '../ui/findings.tsx'
import { Stack } from '../ui/page.tsx'
import { Empty, Note, Panel, Show } from '../ui/panels.tsx'
import { Bdi } from '../ui/text.tsx'
import { Time } from '../ui/values.tsx'
import type { Version } from './queries.ts'
import styles from './registry.module.css'

/** What the checks of a version found, and its life; visitors see how many. */
export const Findings = ({
  version: { node_id: nodeId, version },
  previous,
}: {
  version: Version
  previous: Version | undefined
}) => {
  const query = useQuery(findingsQuery(nodeId, version))
  return (
    <Show query={query}>
      {({ counts, scanned_at: scannedAt, findings, moves = [] }) => (
        <Stack>
          <p className={styles.soft}>
            {scannedAt ? (
              <>
                {countsInWords(counts)}, checked <Time at={scannedAt} />
              </>
            ) : (
              'It is not checked yet.'
            )}
          </p>
          {findings ? (
            <FindingList
              nodeId={nodeId}
              version={version}
              {...(previous && { previous: previous.version })}
            />
          ) : counts.high + counts.medium > 0 ? (
            <Note>Members of the publisher see each finding with its file and line.</Note>
          ) : (
            scannedAt && <Empty>Nothing was found that is to be looked at.</Empty>
          )}
          {moves.length > 0 && <Moves moves={moves} />}
        </Stack>
      )}
    </Show>
  )
}

const Moves = ({
  moves,
}: {
  moves: readonly { at: string; to: string; reason: string; actor: string }[]
}) => (
  <Panel title="Its life" level={3}>
    <ol className={styles.moves}>
      {moves.map(({ at, to, reason, actor }) => (
        <li key={at + to} className={styles.line}>
          <StateBadge state={to} />
          <Time at={at} />
          <span className={styles.soft}>
            <Bdi>{actor === 'workflow' ? reason : `${reason} (${actor})`}</Bdi>
          </span>
        </li>
      ))}
    </ol>
  </Panel>
)
