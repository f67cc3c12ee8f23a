import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { Button as AriaButton } from 'react-aria-components/Button'
import { Disclosure, DisclosurePanel } from 'react-aria-components/Disclosure'

import { inPlainWords } from '../api/issues.ts'
import { shortcutsAreOn } from '../shell/settings.ts'
import { showToast } from '../shell/toasts.tsx'
import { useChangeSearch } from '../ui/address.ts'
import { Ask } from '../ui/ask.tsx'
import { ABOUT_DELIVERY, Attempts, isUnderWay } from '../ui/attempts.tsx'
import { Button } from '../ui/button.tsx'
import { Link } from '../ui/link.tsx'
import { Panel, Show } from '../ui/panels.tsx'
import { Bdi, StateBadge, Time } from '../ui/values.tsx'
import { rich, t } from '../words/translate.ts'
import { listDeliveries, resend, useSubscriptions, type Delivery } from './deliveries.ts'
import { stateOf } from './delivery-state.ts'
import { attemptsQuery, eventsQuery, taskQuery } from './queries.ts'
import styles from './tasks.module.css'
import type { TaskItem } from './types.ts'

/** Milliseconds for which the attempt of a redelivery is polled. */
const WATCHED_MS = 30_000

const isFailing = (delivery: Delivery): boolean =>
  ['exhausted', 'retrying'].includes(stateOf(delivery))

/** Deliveries of a task's events to its webhook URL and to subscriptions, newest first. The address names the open one, or `none`; by default the newest that was sent. */
export const Events = ({ task }: { task: Pick<TaskItem, 'task_id' | 'status' | 'family'> }) => {
  const { event: opened } = useSearch({ from: '/tasks/$task' })
  const change = useChangeSearch()
  const [watchedUntil, setWatchedUntil] = useState(0)
  const query = useQuery(eventsQuery(task, watchedUntil))
  const { urls, isSubscribed } = useSubscriptions(task.family)
  const events = query.data?.events.map((event) => ({ ...event, task_id: task.task_id }))
  const sent = listDeliveries(events ?? []).toReversed()
  const failing = sent.filter(isFailing).length
  return (
    <Panel title={failing > 0 ? t('Webhooks · {failing} failing', { failing }) : t('Webhooks')}>
      <Show query={query}>
        {({ webhook_url: own = '' }) => {
          const first = sent.find(({ attempts }) => attempts > 0)?.id
          if (sent.length === 0)
            return (
              <p className="soft">
                {own || isSubscribed
                  ? t('Nothing sent yet.')
                  : t('No webhook is set for this task.')}{' '}
                {!isSubscribed && (
                  <Link to="/account" search={{ tab: 'webhooks' }}>
                    {t('Subscribe to all your tasks')}
                  </Link>
                )}
              </p>
            )
          return sent.map((event) => (
            <Event
              key={event.id}
              event={event}
              url={event.endpoint_id === undefined ? own : urls.get(event.endpoint_id)}
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
  event: Delivery
  url: string | undefined
  isOpen: boolean
  onOpen(isOpen: boolean): void
  onSent(): void
}

const Event = ({ event, url, isOpen, onOpen, onSent }: EventProps) => {
  const {
    task_id: task,
    sequence,
    status,
    state,
    attempts,
    created_at: at,
    next_attempt_at: next,
  } = event
  const address = url ?? t('a webhook subscription')
  const [isAsked, setAsked] = useState(false)
  const about = (event.waits_for && inPlainWords(event.waits_for)) ?? ABOUT_DELIVERY[state]
  return (
    <Disclosure className={styles.event} isExpanded={isOpen} onExpandedChange={onOpen}>
      <div
        className="row"
        role="group"
        aria-label={t('Event {sequence} to {address}', { sequence, address })}
        onKeyDown={({ key }) => {
          if (key === 'r' && shortcutsAreOn()) setAsked(true)
        }}
      >
        <AriaButton slot="trigger" className={`row bare ${styles.trigger}`}>
          <ChevronRight aria-hidden />
          <b>#{sequence}</b>
          <StateBadge state={status} />
          <StateBadge state={stateOf(event)} />
          <span className="soft small">
            {rich('to {address}', { address: <Bdi>{address}</Bdi> })} ·{' '}
            {attempts > 0
              ? t('{count, plural, one {# attempt} other {# attempts}}', { count: attempts })
              : t('not sent yet')}{' '}
            · <Time at={at} />
            {next && ' · '}
            {next && rich('next attempt {time}', { time: <Time at={next} /> })}
          </span>
        </AriaButton>
        <Button onPress={() => setAsked(true)}>{t('Resend')}</Button>
      </div>
      {isAsked && (
        <Ask
          title={t('Resend event #{sequence}?', { sequence })}
          action={t('Resend')}
          write={() => resend(event)}
          refresh={taskQuery(task).queryKey}
          onDone={() => {
            showToast(t('Event #{sequence} was resent', { sequence }))
            onSent()
          }}
          onClose={() => setAsked(false)}
        >
          <p>{t('It is sent to the webhook URL again, with the same id.')}</p>
        </Ask>
      )}
      <DisclosurePanel>
        {isOpen && (
          <div className={styles.attempts}>
            {about && <p className="soft small">{about}</p>}
            <EventAttempts event={event} />
          </div>
        )}
      </DisclosurePanel>
    </Disclosure>
  )
}

const EventAttempts = ({ event }: { event: Delivery }) => {
  const query = useQuery({
    ...attemptsQuery(event),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => state.data?.attempts.some(isUnderWay) && 2000,
  })
  return <Show query={query}>{({ attempts }) => <Attempts attempts={attempts} />}</Show>
}
