import { useQuery, useQueryClient } from '@tanstack/react-query'

import { readQuery } from '../api/client.ts'
import { serviceQuery, useMe } from '../api/queries.ts'
import { session } from '../api/session.ts'
import { useStore } from '../api/store.ts'
import { useStream } from '../api/stream.ts'
import type { TaskItem } from '../tasks/types.ts'
import { Link, LinkButton } from '../ui/link.tsx'
import { Columns, Facts, PageTitle, Panel, Show, Stack } from '../ui/panels.tsx'
import { StateBadge } from '../ui/values.tsx'
import { Needs } from './needs.tsx'
import { failedQuery, lastQuery, putTask, summaryQuery } from './queries.ts'
import { Last, Running } from './tasks.tsx'
import { Snippets, Visitor } from './visitor.tsx'

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
      for (const { queryKey } of [summaryQuery, lastQuery, failedQuery])
        void queries.invalidateQueries({ queryKey })
    },
    poll: () => queries.invalidateQueries({ queryKey: ['tasks'] }),
  })
  if (me === undefined) return null
  return (
    <Stack>
      <Needs me={me} />
      <Columns>
        <Running ofAll={me.isAdmin} />
        <ServiceState />
      </Columns>
      {last && (last.tasks.length > 0 ? <Last tasks={last.tasks} /> : <FirstSteps />)}
    </Stack>
  )
}

/** A way to a first picture, until one has come out of it. */
const FirstSteps = () => (
  <Panel title="First steps" actions={<LinkButton to="/try">Try it here</LinkButton>}>
    <p>
      Or call the API with a key of your{' '}
      <Link to="/account" search={{ tab: 'keys' }}>
        account
      </Link>
      :
    </p>
    <Snippets />
  </Panel>
)

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
