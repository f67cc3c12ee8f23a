import { useQuery, useQueryClient } from '@tanstack/react-query'

import { useMe } from '../api/queries.ts'
import { session } from '../api/session.ts'
import { useStore } from '../api/store.ts'
import { useStream } from '../api/stream.ts'
import { SignIn } from '../shell/sign-in.tsx'
import { Columns, PageTitle, Stack } from '../ui/page.tsx'
import { Panel } from '../ui/panels.tsx'
import { FirstSteps } from './first-steps.tsx'
import { Needs } from './needs.tsx'
import { lastQuery, putTask, summaryQuery } from './queries.ts'
import type { TaskItem } from './queries.ts'
import { Last } from './last.tsx'
import { Running } from './running.tsx'
import { ServiceState } from './service-state.tsx'

export const HomePage = () => {
  const { user, starting } = useStore(session)
  return (
    <>
      <PageTitle>Home</PageTitle>
      {starting ? null : user === undefined ? <Visitor /> : <Own />}
    </>
  )
}

const Visitor = () => (
  <Columns>
    <Panel title="Pictures and videos that are never lost">
      <p>
        Kiln relights, upscales and films pictures, and keeps a registry of node packs. Sign in to
        try it, to follow your tasks and to publish. The registry is open to all.
      </p>
      <SignIn />
    </Panel>
    <ServiceState />
  </Columns>
)

const Own = () => {
  const me = useMe()
  const queries = useQueryClient()
  const summary = useQuery(summaryQuery)
  const { data: last = [], isSuccess } = useQuery(lastQuery)
  useStream({
    path: '/tasks/stream',
    onEvent: ({ data: task }) => {
      putTask(queries, task as TaskItem)
      void queries.invalidateQueries({ queryKey: summaryQuery.queryKey })
      void queries.invalidateQueries({ queryKey: lastQuery.queryKey })
    },
    poll: async () => {
      await queries.invalidateQueries({ queryKey: ['tasks'] })
      return 5
    },
  })
  if (me === undefined) return null
  return (
    <Stack>
      <Needs summary={summary} isAdmin={me.isAdmin} />
      <Columns>
        <Stack>
          <Running ofAll={me.isAdmin} />
          {last.length > 0 && <Last tasks={last} />}
        </Stack>
        <Stack>
          <ServiceState />
          {isSuccess && last.length === 0 && <FirstSteps />}
        </Stack>
      </Columns>
    </Stack>
  )
}
