import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'

import { readQuery } from '../api/client.ts'
import { serviceQuery, useMe } from '../api/queries.ts'
import { session } from '../api/session.ts'
import { useStore } from '../api/store.ts'
import { useStream } from '../api/stream.ts'
import type { TaskItem } from '../tasks/types.ts'
import { Code } from '../ui/code.tsx'
import { Link, LinkButton, versionPage } from '../ui/link.tsx'
import { Columns, Facts, Note, PageTitle, Panel, Show, Stack } from '../ui/panels.tsx'
import { StateBadge } from '../ui/values.tsx'
import { counted } from '../words/text.ts'
import { heldBackQuery, lastQuery, putTask, reviewsQuery, summaryQuery } from './queries.ts'
import { Last, Running } from './tasks.tsx'
import { Visitor } from './visitor.tsx'

export const Page = () => {
  const { user, starting } = useStore(session)
  return (
    <>
      <PageTitle>{user === undefined ? 'Kiln' : 'Home'}</PageTitle>
      {starting ? null : user === undefined ? <Visitor /> : <Own />}
    </>
  )
}

const Own = () => {
  const me = useMe()
  const queries = useQueryClient()
  const { data: last } = useQuery(lastQuery)
  useStream({
    path: '/tasks/stream',
    onEvent: ({ data: task }) => {
      putTask(queries, task as TaskItem)
      if (!(task as TaskItem).ended_at) return
      for (const { queryKey } of [summaryQuery, lastQuery])
        void queries.invalidateQueries({ queryKey })
    },
    poll: () => queries.invalidateQueries({ queryKey: ['tasks'] }),
  })
  if (me === undefined) return null
  return (
    <Stack>
      <Needs isAdmin={me.isAdmin} />
      <Columns>
        <Stack>
          <Running ofAll={me.isAdmin} />
          {last && last.tasks.length > 0 && <Last tasks={last.tasks} />}
        </Stack>
        <Stack>
          <ServiceState />
          {last?.tasks.length === 0 && <FirstSteps />}
        </Stack>
      </Columns>
    </Stack>
  )
}

const RELIGHT = 'npm run kiln -- relight samples/thumbnail.jpg --prompt sunset -o lit.jpg'
const UPSCALE = 'npm run kiln -- upscale samples/thumbnail.jpg --scale 2x -o large.jpg'

/** Three commands to a first picture, until one has come out of it. */
const FirstSteps = () => {
  const { data: service } = useQuery(serviceQuery)
  const me = useMe()
  const token = service?.development
    ? `export KILN_TOKEN="$(npm run --silent kiln -- token --user ${me?.id ?? 'alice'})"`
    : 'export KILN_API_KEY="…"   # make one under Account'
  return (
    <Panel title="First steps" actions={<LinkButton to="/try">Try it here</LinkButton>}>
      <p>Or from a terminal, in a checkout of Kiln:</p>
      <Code label="the first command" text={`${token}\nexport KILN_URL="${location.origin}"`} />
      <Code label="the second command" text={RELIGHT} />
      <Code label="the third command" text={UPSCALE} />
    </Panel>
  )
}

/** State of the service and of what it depends on. */
const ServiceState = () => {
  const { data: service } = useQuery(serviceQuery)
  return (
    <Panel title="Service" actions={<a href="/docs">Documentation</a>}>
      <Show query={useQuery(readyQuery)}>
        {({ status, checks }) => (
          <Facts
            of={{
              Kiln: [<StateBadge key="state" state={status} />, ' ', service?.version],
              Database: <StateBadge state={checks.postgres} />,
              Workflows: <StateBadge state={checks.temporal} />,
              Files: <StateBadge state={checks.storage} />,
            }}
          />
        )}
      </Show>
    </Panel>
  )
}

/** `/ready` responds with 503 with the same body when the service is not. */
const readyQuery = readQuery('/ready', {}, { refetchInterval: 5000 })

const DAY_MS = 86_400_000

/** Notes on what waits for the caller; empty where nothing does. */
const Needs = ({ isAdmin }: { isAdmin: boolean }) => {
  const [from] = useState(() => new Date(Date.now() - DAY_MS).toISOString())
  return (
    <>
      <Show query={useQuery(summaryQuery)} loading={null}>
        {({ day, exhausted_deliveries: exhausted }) => (
          <>
            {day.failed > 0 && (
              <Note tone="bad">
                {counted(day.failed, 'task')} failed in the last 24 hours.{' '}
                <Link to="/tasks" search={{ state: 'failed', from }}>
                  Show them
                </Link>
              </Note>
            )}
            {exhausted > 0 && (
              <Note tone="warn">
                {counted(exhausted, 'event')} could not be delivered to your webhook URLs. No
                attempts are left. <Link to="/tasks">Find the tasks</Link>, and send them again once
                the webhook URL works.
              </Note>
            )}
          </>
        )}
      </Show>
      <Show query={useQuery(heldBackQuery)} loading={null}>
        {(versions) =>
          versions.length > 0 && (
            <Note tone="warn">
              <p>{counted(versions.length, 'version')} of yours held back:</p>
              <ul>
                {versions.slice(0, 5).map(({ node_id: node, version }) => (
                  <li key={`${node}@${version}`}>
                    <Link {...versionPage(node, version)}>{`${node} ${version}`}</Link>
                  </li>
                ))}
              </ul>
            </Note>
          )
        }
      </Show>
      <Show query={useQuery({ ...reviewsQuery, enabled: isAdmin })} loading={null}>
        {({ total }) =>
          total > 0 && (
            <Note>
              {counted(total, 'request')} for a review. <Link to="/moderation">Decide</Link>
            </Note>
          )
        }
      </Show>
    </>
  )
}
