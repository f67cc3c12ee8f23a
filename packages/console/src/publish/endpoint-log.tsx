import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { read, readQuery, send, type Schema } from '../api/client.ts'
import { WriteButton } from '../ui/ask.tsx'
import { filterWord, stateOf } from '../tasks/delivery-state.ts'
import { Attempts } from '../ui/attempts.tsx'
import { Button } from '../ui/button.tsx'
import { Copied } from '../ui/code.tsx'
import { Select } from '../ui/fields.tsx'
import { Link, taskPage } from '../ui/link.tsx'
import { Show, Stack } from '../ui/panels.tsx'
import { Listing } from '../ui/rows.tsx'
import { Bdi, StateBadge, Time } from '../ui/values.tsx'
import { rich, t } from '../words/translate.ts'
import type { Subscriber } from './subscriber.ts'

const eventsOf = ({ base }: Subscriber) => `${base}/{endpoint_id}/events` as const
const PAGE = 20

type State = Schema<'DeliveryState'>
const STATES = (['', 'pending', 'delivered', 'exhausted', 'stopped'] as const).map(
  (state) => [state, state === '' ? t('All') : filterWord(state)] as const,
)

export type EndpointPath = { publisherId: string; endpoint_id: string }

type LogProps = { of: Subscriber; path: EndpointPath }

/** The events of a subscription, the newest first, with their attempts at a press. */
export const EndpointLog = ({ of, path }: LogProps) => {
  const route = eventsOf(of)
  const [state, setState] = useState<State | ''>('')
  const [open, setOpen] = useState<readonly string[]>([])
  const toggle = (id: string): void =>
    setOpen(open.includes(id) ? open.filter((one) => one !== id) : [...open, id])
  const log = useInfiniteQuery({
    queryKey: ['endpoint', path.endpoint_id, 'events', state],
    initialPageParam: '',
    queryFn: async ({ pageParam, signal }) => {
      const before = pageParam && { before: pageParam }
      const query = { limit: PAGE, ...before, ...(state && { state }) }
      return (await read(route, { path, query }, signal)).events
    },
    getNextPageParam: (events) => (events.length < PAGE ? undefined : events.at(-1)?.id),
    select: ({ pages }) => pages.flat(),
    refetchInterval: (query) =>
      query.state.data?.pages
        .flat()
        .some((event) => event.state === 'pending' || event.next_attempt_at) && 3000,
  })
  return (
    <Stack>
      <Select<State | ''>
        label={t('State')}
        isLabelHidden
        options={STATES}
        value={state}
        onChange={setState}
      />
      <Listing
        label={t('Events')}
        query={log}
        empty={t('No events sent yet. “Send test event” tries it.')}
        columns={{
          [t('Event')]: ({ type, subject_id: subject }) => (
            <>
              <code>{type}</code>{' '}
              {subject !== undefined && type.includes('_task.') ? (
                <Link {...taskPage(subject)}>{subject}</Link>
              ) : (
                <Bdi>{subject}</Bdi>
              )}
            </>
          ),
          [t('State')]: (event) => <StateBadge state={stateOf(event)} />,
          [t('Created')]: ({ created_at: at }) => <Time at={at} />,
          [t('Attempts')]: ({ id, attempts, next_attempt_at: next }) => (
            <>
              <Button variant="quiet" onPress={() => toggle(id)} aria-expanded={open.includes(id)}>
                {t('{count, plural, one {# attempt} other {# attempts}}', { count: attempts })}
              </Button>
              {next && (
                <span className="cut">{rich('next {time}', { time: <Time at={next} /> })}</span>
              )}
            </>
          ),
          '': ({ id: event_id }) =>
            of.mayManage && (
              <WriteButton
                label={t('Resend')}
                write={() =>
                  send('POST', `${route}/{event_id}/redeliver`, { path: { ...path, event_id } })
                }
              />
            ),
        }}
        below={(event) =>
          open.includes(event.id) && <EventAttempts of={of} path={path} event={event} />
        }
      />
    </Stack>
  )
}

type AttemptsProps = LogProps & { event: Schema<'EndpointEvent'> }

const EventAttempts = ({ of, path, event: { id, attempts } }: AttemptsProps) => {
  const query = readQuery(`${eventsOf(of)}/{event_id}/attempts`, {
    path: { ...path, event_id: id },
  })
  // A new attempt is read as soon as the log shows it.
  const attemptsMade = useQuery({ ...query, queryKey: [...query.queryKey, attempts] })
  return (
    <>
      <Show query={attemptsMade}>{(data) => <Attempts attempts={data.attempts} />}</Show>
      <Copied text={id} label={t('event ID')} />
    </>
  )
}
