import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { answerOf, api } from '../api/client.ts'
import type { Schema } from '../api/client.ts'
import { showToast } from '../shell/toasts.tsx'
import { AskButton, SecretDialog, WriteButton } from '../ui/ask.tsx'
import { Attempts } from '../ui/attempts.tsx'
import { Badge, StateBadge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Copied } from '../ui/code.tsx'
import { Select } from '../ui/fields.tsx'
import { Table } from '../ui/list.tsx'
import { Row, Stack } from '../ui/page.tsx'
import { Empty, Note, Panel, Show } from '../ui/panels.tsx'
import { Bdi } from '../ui/text.tsx'
import { Time } from '../ui/values.tsx'
import { counted } from '../words/text.ts'
import type { OfPublisher } from './publisher.tsx'
import { endpointsQuery, mayAs, publisherKey } from './queries.ts'

type Endpoint = Schema<'PublisherEndpoint'>
type EventType = Schema<'PublisherEventType'>

const EVENTS: Record<EventType, true> = {
  'version.received': true,
  'version.active': true,
  'version.flagged': true,
  'version.banned': true,
  'version.deleted': true,
  'review.requested': true,
  'review.decided': true,
  'token.created': true,
  'token.revoked': true,
  'member.added': true,
  'member.changed': true,
  'member.removed': true,
}

const fieldsOf = (endpoint?: Endpoint) => [
  {
    name: 'url',
    label: 'Address',
    value: endpoint?.url ?? '',
    help: 'https. It is sent a signed POST for each event.',
  },
  {
    name: 'events',
    label: 'Events',
    many: Object.keys(EVENTS),
    value: (endpoint?.events ?? ['version.active', 'version.flagged', 'review.decided']).join(','),
  },
]
const readEvents = (list = ''): EventType[] => list.split(',') as EventType[]

const one = (publisherId: string, { id }: Endpoint) => ({
  params: { path: { publisherId, endpoint_id: id } },
})

/** Where a publisher is told what happens, and what has become of each telling. */
export const Endpoints = ({ id, role }: OfPublisher) => {
  const endpoints = useQuery(endpointsQuery(id))
  const [secret, setSecret] = useState<string>()
  const mayManage = mayAs(role, 'admin')
  return (
    <Stack>
      {mayManage && (
        <Row>
          <AskButton
            label="Add an endpoint"
            title="Add an endpoint"
            action="Add endpoint"
            fields={fieldsOf()}
            write={({ url = '', events }, headers) =>
              answerOf(
                api.POST('/publishers/{publisherId}/endpoints', {
                  params: { path: { publisherId: id } },
                  body: { url, events: readEvents(events) },
                  headers,
                }),
              )
            }
            refresh={[publisherKey(id, 'endpoints')]}
            onDone={(made) => setSecret(made.secret)}
          />
        </Row>
      )}
      {secret !== undefined && (
        <SecretDialog
          title="The secret that signs its events"
          secret={secret}
          onClose={() => setSecret(undefined)}
        />
      )}
      <Show query={endpoints}>
        {({ endpoints: list }) =>
          list.length === 0 ? (
            <Empty>No endpoint is told of anything. Members see the same on these pages.</Empty>
          ) : (
            <Stack>
              {list.map((endpoint) => (
                <EndpointPanel
                  key={endpoint.id}
                  id={id}
                  endpoint={endpoint}
                  mayManage={mayManage}
                  onSecret={setSecret}
                />
              ))}
            </Stack>
          )
        }
      </Show>
    </Stack>
  )
}

const DISABLED = {
  requested: 'An admin has switched it off.',
  gone: 'It is off: it has answered 410, which means that it is gone.',
  failing:
    'It is off: it has failed for days. Mend it, switch it on, then send again what it has missed.',
}

const EndpointPanel = ({
  id,
  endpoint,
  mayManage,
  onSecret,
}: {
  id: string
  endpoint: Endpoint
  mayManage: boolean
  onSecret(secret: string): void
}) => {
  const [showsLog, setShowsLog] = useState(false)
  const isOn = endpoint.status === 'enabled'
  const refresh = [publisherKey(id, 'endpoints'), logKey(endpoint)]
  const change = (body: Schema<'PublisherEndpointUpdate'>) =>
    answerOf(
      api.PUT('/publishers/{publisherId}/endpoints/{endpoint_id}', { ...one(id, endpoint), body }),
    )
  return (
    <Panel
      title={<Bdi>{endpoint.url}</Bdi>}
      actions={<Badge tone={isOn ? 'ok' : 'warn'}>{isOn ? 'on' : 'off'}</Badge>}
    >
      {endpoint.disabled_reason && <Note tone="warn">{DISABLED[endpoint.disabled_reason]}</Note>}
      {isOn && endpoint.failing_since && (
        <Note tone="warn">
          <p>
            It fails since <Time at={endpoint.failing_since} />. Its log says why.
          </p>
        </Note>
      )}
      <Row>
        {endpoint.events.map((event) => (
          <Badge key={event}>{event}</Badge>
        ))}
      </Row>
      <Row>
        <Button onPress={() => setShowsLog(!showsLog)} aria-expanded={showsLog}>
          {showsLog ? 'Hide log' : 'Show log'}
        </Button>
        {mayManage && (
          <>
            <WriteButton
              label="Send a test event"
              isDisabled={!isOn}
              write={(headers) =>
                answerOf(
                  api.POST('/publishers/{publisherId}/endpoints/{endpoint_id}/test', {
                    ...one(id, endpoint),
                    headers,
                  }),
                )
              }
              refresh={refresh}
              onDone={() => setShowsLog(true)}
            />
            <AskButton
              label="Edit"
              title="Edit the endpoint"
              action="Save"
              fields={fieldsOf(endpoint)}
              write={({ url, events }) => change({ url, events: readEvents(events) })}
              refresh={refresh}
            />
            <WriteButton
              label={isOn ? 'Switch off' : 'Switch on'}
              write={() => change({ status: isOn ? 'disabled' : 'enabled' })}
              refresh={refresh}
            />
            <AskButton
              label="Send missed again"
              title="Send again what it has missed"
              action="Send again"
              fields={[
                {
                  name: 'since',
                  label: 'Since',
                  value: endpoint.disabled_at ?? endpoint.failing_since ?? endpoint.created_at,
                },
              ]}
              write={({ since = '' }, headers) =>
                answerOf(
                  api.POST('/publishers/{publisherId}/endpoints/{endpoint_id}/redeliver', {
                    ...one(id, endpoint),
                    body: { since },
                    headers,
                  }),
                )
              }
              refresh={refresh}
              onDone={({ redeliveries }) =>
                showToast(`${counted(redeliveries, 'event')} sent again`)
              }
            />
            <AskButton
              label="New secret"
              title="Replace the secret?"
              action="Replace secret"
              write={(_, headers) =>
                answerOf(
                  api.POST(
                    '/publishers/{publisherId}/endpoints/{endpoint_id}/webhook-secret/rotate',
                    { ...one(id, endpoint), headers },
                  ),
                )
              }
              onDone={(made) => onSecret(made.secret)}
            >
              <p>For a day events are signed with both, then with the new one alone.</p>
            </AskButton>
            <AskButton
              label="Delete"
              look="danger"
              title="Delete the endpoint?"
              action="Delete endpoint"
              write={() =>
                api.DELETE('/publishers/{publisherId}/endpoints/{endpoint_id}', one(id, endpoint))
              }
              refresh={[publisherKey(id, 'endpoints')]}
            >
              <p>What it has not been told yet, it is not told. Its log goes with it.</p>
            </AskButton>
          </>
        )}
      </Row>
      {showsLog && <Log id={id} endpoint={endpoint} mayManage={mayManage} />}
    </Panel>
  )
}

const logKey = ({ id }: Endpoint) => ['endpoint', id, 'events'] as const
const PAGE = 20
const STATES = ['', 'pending', 'delivered', 'exhausted', 'stopped'].map((value) => ({
  value,
  label: value === '' ? 'all' : value,
}))

const Log = ({
  id,
  endpoint,
  mayManage,
}: {
  id: string
  endpoint: Endpoint
  mayManage: boolean
}) => {
  const [state, setState] = useState<'' | Schema<'DeliveryState'>>('')
  const log = useInfiniteQuery({
    queryKey: [...logKey(endpoint), state],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      answerOf(
        api.GET('/publishers/{publisherId}/endpoints/{endpoint_id}/events', {
          params: {
            ...one(id, endpoint).params,
            query: {
              limit: PAGE,
              ...(pageParam !== '' && { before: pageParam }),
              ...(state !== '' && { state }),
            },
          },
          signal,
        }),
      ),
    getNextPageParam: ({ events }) => (events.length < PAGE ? undefined : events.at(-1)?.id),
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some(({ events }) => events.some((event) => event.state === 'pending'))
        ? 3000
        : false,
  })
  return (
    <Stack>
      <Select
        label="State"
        isLabelHidden
        options={STATES}
        value={state}
        onChange={(next) => setState(next as typeof state)}
      />
      <Show query={log}>
        {({ pages }) =>
          pages[0]?.events.length === 0 ? (
            <Empty>It was told of nothing yet. “Send a test event” tries it.</Empty>
          ) : (
            <Table label="Events" columns={['Event', 'State', 'Made', 'Tries', '']}>
              {pages
                .flatMap(({ events }) => events)
                .map((event) => (
                  <EventRow key={event.id} {...{ id, endpoint, event, mayManage }} />
                ))}
            </Table>
          )
        }
      </Show>
      {log.hasNextPage && (
        <Button onPress={() => void log.fetchNextPage()} isPending={log.isFetchingNextPage}>
          Show older
        </Button>
      )}
    </Stack>
  )
}

const EventRow = ({
  id,
  endpoint,
  event,
  mayManage,
}: {
  id: string
  endpoint: Endpoint
  event: Schema<'EndpointEvent'>
  mayManage: boolean
}) => {
  const [isOpen, setOpen] = useState(false)
  const path = { ...one(id, endpoint).params.path, event_id: event.id }
  const attempts = useQuery({
    queryKey: ['event', event.id, 'attempts', event.attempts],
    queryFn: ({ signal }) =>
      answerOf(
        api.GET('/publishers/{publisherId}/endpoints/{endpoint_id}/events/{event_id}/attempts', {
          params: { path },
          signal,
        }),
      ),
    enabled: isOpen,
  })
  return (
    <>
      <tr>
        <td>
          <code>{event.type}</code> <Bdi>{event.subject_id}</Bdi>
        </td>
        <td>
          <StateBadge state={event.state} />
        </td>
        <td>
          <Time at={event.created_at} />
        </td>
        <td>
          <Button look="quiet" onPress={() => setOpen(!isOpen)} aria-expanded={isOpen}>
            {counted(event.attempts, 'try', 'tries')}
          </Button>
          {event.next_attempt_at && (
            <>
              next <Time at={event.next_attempt_at} />
            </>
          )}
        </td>
        <td>
          {mayManage && event.state !== 'pending' && (
            <WriteButton
              label="Send again"
              write={(headers) =>
                api.POST(
                  '/publishers/{publisherId}/endpoints/{endpoint_id}/events/{event_id}/redeliver',
                  { params: { path }, headers },
                )
              }
              refresh={[logKey(endpoint)]}
            />
          )}
        </td>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={5}>
            <Show query={attempts}>{({ attempts: tries }) => <Attempts attempts={tries} />}</Show>
            <Copied text={event.id} label="event id" />
          </td>
        </tr>
      )}
    </>
  )
}
