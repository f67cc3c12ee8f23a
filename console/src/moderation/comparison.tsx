import { useQuery } from '@tanstack/react-query'

import type { Change } from '../registry/changes.ts'
import { compareQuery } from '../registry/queries.ts'
import { LEVEL_WORDS } from '../registry/verdict.tsx'
import { Link } from '../ui/link.tsx'
import { useMore } from '../ui/more.tsx'
import { Stack } from '../ui/page.tsx'
import { Empty, Show } from '../ui/panels.tsx'
import { Badge, Bdi } from '../ui/values.tsx'
import type { Sides } from './changes.tsx'
import styles from './moderation.module.css'

/** What an update from the version before does to saved workflows. */
export const Comparison = ({ nodeId, version, previous = '' }: Sides) => {
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
          <ChangeList changes={changes} />
        </Stack>
      )}
    </Show>
  )
}

const ChangeList = ({ changes }: { changes: readonly Change[] }) => {
  const { shown, more } = useMore(changes, 100)
  return (
    <>
      <ul className={styles.files}>
        {shown.map(({ level, host_node: name, message }, index) => (
          <li key={index}>
            <Badge tone={LEVEL_WORDS[level].tone}>{LEVEL_WORDS[level].word}</Badge>{' '}
            <Bdi>{`${name}: ${message}`}</Bdi>
          </li>
        ))}
      </ul>
      {more}
    </>
  )
}
