import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { Button as AriaButton } from 'react-aria-components/Button'
import { Disclosure, DisclosurePanel } from 'react-aria-components/Disclosure'

import { send } from '../api/client.ts'
import { shortcutsAreOn } from '../shell/settings.ts'
import { showToast } from '../shell/toasts.tsx'
import { useChangeSearch } from '../ui/address.ts'
import { Ask } from '../ui/ask.tsx'
import { ABOUT_DELIVERY, Attempts, isUnderWay } from '../ui/attempts.tsx'
import { Button } from '../ui/button.tsx'
import { Link } from '../ui/link.tsx'
import { Panel, Show } from '../ui/panels.tsx'
import { StateBadge, Time } from '../ui/values.tsx'
import { counted } from '../words/text.ts'
import type { TaskEvent } from './types.ts'
import { attemptsQuery, eventsQuery, taskQuery } from './queries.ts'
import styles from './tasks.module.css'

/** Milliseconds for which the attempt of a redelivery is polled. */
const WATCHED_MS = 30_000

const isFailing = ({ state }: TaskEvent): boolean => ['retrying', 'exhausted'].includes(state)

/** Events of a task, newest first. The address names the open one, or `none`; by default the newest that was sent. */
export const Events = ({ task }: { task: string }) => {
  const { event: opened } = useSearch({ from: '/tasks/$task' })
  const change = useChangeSearch()
  const [watchedUntil, setWatchedUntil] = useState(0)
  const query = useQuery(eventsQuery(task, watchedUntil))
  const failing = query.data?.events.filter(isFailing).length ?? 0
  return (
    <Panel title={failing > 0 ? `Webhooks · ${failing} failing` : 'Webhooks'}>
      <Show query={query}>
        {({ events }) => {
          const newest = events.toReversed()
          const first = newest.find(({ attempts }) => attempts > 0)?.id
          if (newest.every(({ state }) => state === 'unsent'))
            return (
              <p className="soft">
                No webhook is set for this task.{' '}
                <Link to="/account" search={{ tab: 'webhooks' }}>
                  Subscribe to all your tasks
                </Link>
              </p>
            )
          return newest.map((event) => (
            <Event
              key={event.id}
              task={task}
              event={event}
              isOpen={(opened ?? first) === event.id}
              onOpen={(isOpen) => change({ event: isOpen ? event.id : 'none' })}
              onSent={() => setWatchedUntil(Date.now() + WATCHED_MS)}
            />
          ))
        }}
      </Show>
    </Panel>
  )
}

interface EventProps {
  task: string
  event: TaskEvent
  isOpen: boolean
  onOpen(isOpen: boolean): void
  onSent(): void
}

const Event = ({ task, event, isOpen, onOpen, onSent }: EventProps) => {
  const { id, sequence, status, state, attempts, created_at: at, next_attempt_at: next } = event
  const [isAsked, setAsked] = useState(false)
  const mayRedeliver = state !== 'unsent'
  const about = event.waits_for ?? ABOUT_DELIVERY[state]
  const path = { task_id: task, event_id: id }
  return (
    <Disclosure className={styles.event} isExpanded={isOpen} onExpandedChange={onOpen}>
      <div
        className="row"
        role="group"
        aria-label={`Event ${sequence}`}
        onKeyDown={({ key }) => {
          if (key === 'r' && mayRedeliver && shortcutsAreOn()) setAsked(true)
        }}
      >
        <AriaButton slot="trigger" className={`row bare ${styles.trigger}`}>
          <ChevronRight aria-hidden />
          <b>#{sequence}</b>
          <StateBadge state={status} />
          <StateBadge state={state === 'pending' ? 'scheduled' : state} />
          <span className="soft small">
            {attempts > 0 ? counted(attempts, 'attempt') : 'not sent yet'} · <Time at={at} />
            {next && ' · next attempt '}
            {next && <Time at={next} />}
          </span>
        </AriaButton>
        {mayRedeliver && <Button onPress={() => setAsked(true)}>Resend</Button>}
      </div>
      {isAsked && (
        <Ask
          title={`Resend event #${sequence}?`}
          action="Resend"
          write={() => send('POST', '/tasks/{task_id}/events/{event_id}/redeliver', { path })}
          refresh={taskQuery(task).queryKey}
          onDone={() => {
            showToast(`Event #${sequence} was resent`)
            onSent()
          }}
          onClose={() => setAsked(false)}
        >
          <p>The webhook URL gets it once more, with the same id.</p>
        </Ask>
      )}
      <DisclosurePanel>
        {isOpen && (
          <div className={styles.attempts}>
            {about && <p className="soft small">{about}</p>}
            <EventAttempts task={task} event={event} />
          </div>
        )}
      </DisclosurePanel>
    </Disclosure>
  )
}

const EventAttempts = ({ task, event }: { task: string; event: TaskEvent }) => {
  const query = useQuery({
    ...attemptsQuery(task, event),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => state.data?.attempts.some(isUnderWay) && 2000,
  })
  return <Show query={query}>{({ attempts }) => <Attempts attempts={attempts} />}</Show>
}
