import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { Link, versionPage } from '../ui/link.tsx'
import { Note, Show } from '../ui/panels.tsx'
import { Bdi } from '../ui/values.tsx'
import { counted } from '../words/text.ts'
import { heldBackQuery, reviewsQuery, summaryQuery } from './tasks.tsx'

const DAY_MS = 86_400_000

/** What waits for the caller; nothing where nothing does. */
export const Needs = ({ isAdmin }: { isAdmin: boolean }) => (
  <>
    <OwnTasks />
    <HeldBack />
    {isAdmin && <Reviews />}
  </>
)

const OwnTasks = () => {
  const [from] = useState(() => new Date(Date.now() - DAY_MS).toISOString())
  return (
    <Show query={useQuery(summaryQuery)} loading={null}>
      {({ day, exhausted_deliveries: exhausted }) => (
        <>
          {day.failed > 0 && (
            <Note tone="bad">
              <p>
                {counted(day.failed, 'task')} failed in the last 24 hours.{' '}
                <Link to="/tasks" search={{ state: 'failed', from }}>
                  Show them
                </Link>
              </p>
            </Note>
          )}
          {exhausted > 0 && (
            <Note tone="warn">
              <p>
                {counted(exhausted, 'event')} could not be told to your receivers, and all tries are
                used up. <Link to="/tasks">Find the tasks</Link>, and send them again once the
                receiver works.
              </p>
            </Note>
          )}
        </>
      )}
    </Show>
  )
}

const HeldBack = () => (
  <Show query={useQuery(heldBackQuery)} loading={null}>
    {(versions) =>
      versions.length > 0 && (
        <Note tone="warn">
          <p>{counted(versions.length, 'version')} of yours held back:</p>
          <ul>
            {versions.slice(0, 5).map(({ node_id: node, version }) => (
              <li key={`${node}@${version}`}>
                <Link {...versionPage(node, version)}>
                  <Bdi>{`${node} ${version}`}</Bdi>
                </Link>
              </li>
            ))}
          </ul>
        </Note>
      )
    }
  </Show>
)

const Reviews = () => (
  <Show query={useQuery(reviewsQuery)} loading={null}>
    {({ total }) =>
      total > 0 && (
        <Note>
          <p>
            {counted(total, 'request')} for a review. <Link to="/moderation">Decide</Link>
          </p>
        </Note>
      )
    }
  </Show>
)
