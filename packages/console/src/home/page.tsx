import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Suspense } from 'react'

import { readQuery } from '../api/client.ts'
import { serviceQuery, useMe } from '../api/queries.ts'
import { session } from '../api/session.ts'
import { useStore } from '../api/store.ts'
import { useStream } from '../api/stream.ts'
import { lazyPart } from '../shell/lazy-page.ts'
import type { TaskItem } from '../tasks/types.ts'
import { Link, LinkButton } from '../ui/link.tsx'
import { Loading, PageTitle, Panel, Stack } from '../ui/panels.tsx'
import { StateBadge } from '../ui/values.tsx'
import { WhenSeen } from '../ui/when-seen.tsx'
import { rich, t } from '../words/translate.ts'
import styles from './home.module.css'
import { Needs } from './needs.tsx'
import { failedQuery, lastQuery, putTask, summaryQuery } from './queries.ts'
import { Last, Running } from './tasks.tsx'
import { Snippets, Visitor } from './visitor.tsx'

// Its select is most of what the first load does without.
const LanguageChoice = lazyPart(
  async () => (await import('../shell/language-choice.tsx')).LanguageChoice,
)

export const Page = () => {
  const { user, starting } = useStore(session)
  const me = useMe()
  const shown = user === undefined ? <Visitor /> : me && <Own me={me} />
  return (
    <>
      <PageTitle>{user === undefined ? t('Kiln') : t('Home')}</PageTitle>
      {starting || !shown ? <Loading rows={5} /> : shown}
      {/* Its choice of languages is loaded in sight, and below a loading page it would be. */}
      {!starting && shown && <ServiceState />}
    </>
  )
}

const Own = ({ me }: Parameters<typeof Needs>[0]) => {
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
  return (
    <Stack>
      <Needs me={me} />
      <Running ofAll={me.isAdmin} />
      {last && (last.tasks.length > 0 ? <Last tasks={last.tasks} /> : <FirstSteps />)}
    </Stack>
  )
}

/** A way to a first picture, until one has come out of it. */
const FirstSteps = () => (
  <Panel title={t('First steps')} actions={<LinkButton to="/try">{t('Try it here')}</LinkButton>}>
    <p>
      {rich('Or call the API with a key of your <a>account</a>:', {
        a: (text) => (
          <Link to="/account" search={{ tab: 'keys' }}>
            {text}
          </Link>
        ),
      })}
    </p>
    <Snippets />
  </Panel>
)

const PARTS = [
  [t('Database'), 'postgres'],
  [t('Workflows'), 'temporal'],
  [t('Files'), 'storage'],
] as const

/** State of the service, and what of it does not work; `/ready` responds with 503 with the same body when it is not. */
const ServiceState = () => {
  const { data: service } = useQuery(serviceQuery)
  const { data } = useQuery(readQuery('/ready', {}, { refetchInterval: 5000 }))
  const parts = PARTS.map(([title, name]) => [title, data?.checks[name]] as const)
  return (
    <footer className={`row soft ${styles.foot}`}>
      {t('Kiln')} {service?.version} {data && <StateBadge state={data.status} />}
      {parts.map(
        ([title, state]) =>
          state &&
          state !== 'ok' && (
            <span key={title}>
              {title} <StateBadge state={state} />
            </span>
          ),
      )}
      <a href="/docs/overview">{t('Documentation')}</a>
      <WhenSeen>
        <Suspense>
          <LanguageChoice isLabelHidden />
        </Suspense>
      </WhenSeen>
    </footer>
  )
}
