import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { readQuery, send, type Schema } from '../api/client.ts'
import { showToast } from '../shell/toasts.tsx'
import { AskButton, SecretButton, WriteButton } from '../ui/ask.tsx'
import { Button } from '../ui/button.tsx'
import { Empty, Note, Panel, Row, Show, Stack } from '../ui/panels.tsx'
import { Badge, Bdi, Time } from '../ui/values.tsx'
import { counted } from '../words/text.ts'
import { EndpointLog, type EndpointPath } from './endpoint-log.tsx'
import { mayAs, type OfPublisher } from './queries.ts'

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
const FIRST_EVENTS: EventType[] = ['version.active', 'version.flagged', 'review.decided']
const URL_HELP = 'https. It is sent a signed POST for each event.'

const fieldsOf = ({ url, events = FIRST_EVENTS }: Partial<Endpoint> = {}) => [
  { name: 'url', label: 'Address', value: url, help: URL_HELP },
  { name: 'events', label: 'Events', many: Object.keys(EVENTS), value: events.join(',') },
]
const readEvents = (list = ''): EventType[] => list.split(',') as EventType[]

const ENDPOINTS = '/publishers/{publisherId}/endpoints'
const ENDPOINT = `${ENDPOINTS}/{endpoint_id}` as const

/** Webhook subscriptions of a publisher, with the outcome of each delivery. */
export const Endpoints = ({ id, role }: OfPublisher) => {
  const mayManage = mayAs(role, 'admin')
  const path = { publisherId: id }
  return (
    <Stack>
      {mayManage && (
        <SecretButton
          label="Add an endpoint"
          action="Add endpoint"
          fields={fieldsOf()}
          write={({ url = '', events }) =>
            send('POST', ENDPOINTS, { path, body: { url, events: readEvents(events) } })
          }
          secretTitle={SECRET_TITLE}
          secretOf={({ secret }) => secret}
        />
      )}
      <Show query={useQuery(readQuery(ENDPOINTS, { path }))}>
        {({ endpoints }) =>
          endpoints.length === 0 ? (
            <Empty>There is no endpoint yet. Members see the same on these pages.</Empty>
          ) : (
            endpoints.map((endpoint) => (
              <EndpointPanel
                key={endpoint.id}
                path={{ ...path, endpoint_id: endpoint.id }}
                endpoint={endpoint}
                mayManage={mayManage}
              />
            ))
          )
        }
      </Show>
    </Stack>
  )
}

const SECRET_TITLE = 'The secret that signs its events'

const DISABLED = {
  requested: 'An admin has switched it off.',
  gone: 'It is off: it responded with 410, which means that it is gone.',
  failing:
    'It is off: it has failed for days. Mend it, switch it on, then send again what it has missed.',
  member_removed:
    'It is off: whoever made it is no member any more. Switch it on if it is still yours.',
}

type EndpointProps = { path: EndpointPath; endpoint: Endpoint; mayManage: boolean }

const EndpointPanel = ({ path, endpoint, mayManage }: EndpointProps) => {
  const [showsLog, setShowsLog] = useState(false)
  const { url, events, status, disabled_reason: reason, failing_since: failing } = endpoint
  const isOn = status === 'enabled'
  return (
    <Panel
      title={<Bdi>{url}</Bdi>}
      actions={<Badge tone={isOn ? 'ok' : 'warn'}>{isOn ? 'on' : 'off'}</Badge>}
    >
      {reason && <Note tone="warn">{DISABLED[reason]}</Note>}
      {isOn && failing && (
        <Note tone="warn">
          It fails since <Time at={failing} />. Its log says why.
        </Note>
      )}
      <Row>
        {events.map((event) => (
          <Badge key={event}>{event}</Badge>
        ))}
      </Row>
      <Row>
        <Button onPress={() => setShowsLog(!showsLog)} aria-expanded={showsLog}>
          {showsLog ? 'Hide log' : 'Show log'}
        </Button>
        {mayManage && <Management {...{ path, endpoint }} onTest={() => setShowsLog(true)} />}
      </Row>
      {showsLog && <EndpointLog path={path} mayManage={mayManage} />}
    </Panel>
  )
}

type ManagementProps = Omit<EndpointProps, 'mayManage'> & { onTest(): void }

/** Actions of admins on an endpoint. */
const Management = ({ path, endpoint, onTest }: ManagementProps) => {
  const isOn = endpoint.status === 'enabled'
  const missed = endpoint.disabled_at ?? endpoint.failing_since ?? endpoint.created_at
  const change = (body: Schema<'PublisherEndpointUpdate'>) => send('PUT', ENDPOINT, { path, body })
  return (
    <>
      <WriteButton
        label="Send a test event"
        isDisabled={!isOn}
        write={() => send('POST', `${ENDPOINT}/test`, { path })}
        onDone={onTest}
      />
      <AskButton
        label="Edit"
        title="Edit the endpoint"
        action="Save"
        fields={fieldsOf(endpoint)}
        write={({ url, events }) => change({ url, events: readEvents(events) })}
      />
      <WriteButton
        label={isOn ? 'Switch off' : 'Switch on'}
        write={() => change({ status: isOn ? 'disabled' : 'enabled' })}
      />
      <AskButton
        label="Send missed again"
        title="Send again what it has missed"
        action="Send again"
        fields={[{ name: 'since', label: 'Since', value: missed }]}
        write={({ since = '' }) => send('POST', `${ENDPOINT}/redeliver`, { path, body: { since } })}
        onDone={({ redeliveries }) => showToast(`${counted(redeliveries, 'event')} sent again`)}
      />
      <SecretButton
        label="New secret"
        title="Replace the secret?"
        action="Replace secret"
        write={() => send('POST', `${ENDPOINT}/webhook-secret/rotate`, { path })}
        secretTitle={SECRET_TITLE}
        secretOf={({ secret }) => secret}
      >
        <p>For a day events are signed with both, then with the new one alone.</p>
      </SecretButton>
      <AskButton
        label="Delete"
        variant="danger"
        title="Delete the endpoint?"
        action="Delete endpoint"
        write={() => send('DELETE', ENDPOINT, { path })}
      >
        <p>Events that it did not get yet are not delivered. Its log goes with it.</p>
      </AskButton>
    </>
  )
}
