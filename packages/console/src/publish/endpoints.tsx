import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { readQuery, send, type Schema } from '../api/client.ts'
import { showToast } from '../shell/toasts.tsx'
import { Actions, type Action } from '../ui/actions.tsx'
import { linesOf, type FieldSpec } from '../ui/ask-field.tsx'
import { instantOf, localTime } from '../ui/local-time.ts'
import { SecretButton, SecretDialog, WriteButton } from '../ui/ask.tsx'
import { CAUSES } from '../ui/attempts.tsx'
import { Button } from '../ui/button.tsx'
import { Empty, Note, Panel, Row, Show, Stack } from '../ui/panels.tsx'
import { Badge, Bdi, useNow } from '../ui/values.tsx'
import { counted, showSeconds } from '../words/text.ts'
import { EndpointLog, type EndpointPath } from './endpoint-log.tsx'
import { mayAs, type OfPublisher } from './queries.ts'
import { publisherSubscriber, type Subscriber } from './subscriber.ts'

type Endpoint = Schema<'PublisherEndpoint'>
type EventType = Schema<'PublisherEventType'>

const SECRET_TITLE = 'Signing secret'

const GROUPS: Readonly<Record<string, string>> = {
  version: 'Versions',
  review: t('Reviews|of versions'),
  token: 'Tokens',
  member: 'Members',
  image_task: 'Images',
  video_task: 'Videos',
  report: 'Reports',
  breaker: 'Engines',
  engine: 'Engines',
  workflow: 'Workflows',
  queue: 'Queue',
  store: 'Store',
  api_key: 'API keys',
}

/** Types of events below what they are about. */
const groupEvents = (events: Subscriber['events']) => {
  const groups: Record<string, [type: string, text: string][]> = {}
  for (const [type, text] of Object.entries(events)) {
    const subject = type.split('.')[0] ?? ''
    ;(groups[GROUPS[subject] ?? subject] ??= []).push([type, `${text} (${type})`])
  }
  return groups
}

/** Fields of a subscription; each type of event has the code that its requests carry. */
const fieldsOf = (
  { events, first, hasFormat, hasFilters }: Subscriber,
  given?: Endpoint & { format?: string } & Filters,
): FieldSpec[] => [
  ...(hasFormat ? [{ ...FORMAT, value: given?.format ?? 'json' }] : []),
  {
    name: 'url',
    label: 'URL',
    value: given?.url,
    help: 'HTTPS URL. Receives a signed POST for each event.',
  },
  {
    name: 'events',
    label: 'Events',
    value: (given?.events ?? first).join('\n'),
    many: groupEvents(events),
  },
  ...(hasFilters ? FILTERS.map((field) => withWords(field, given)) : []),
  {
    name: 'headers',
    label: 'Headers',
    isOptional: true,
    rows: 2,
    help: `${t('One “Name: value” a line. Values are not shown again.')} ${
      given?.header_names
        ? t('Leave it empty to keep {names}.', { names: given.header_names.join(', ') })
        : t('They are sent with each event.')
    }`,
  },
]

/** Filters that subscriptions of owners of tasks alone have. */
type Filters = { labels?: readonly string[]; kinds?: readonly string[] }

const FILTERS: readonly (FieldSpec & { name: keyof Filters })[] = [
  {
    name: 'labels',
    label: 'Only tasks with these labels',
    chips: true,
    isOptional: true,
    help: 'As key:value. A task needs all of them.',
  },
  {
    name: 'kinds',
    label: 'Only tasks of these kinds',
    chips: true,
    isOptional: true,
    help: 'Such as upscale or text2video.',
  },
]

const withWords = (
  field: FieldSpec & { name: keyof Filters },
  given: Filters | undefined,
): FieldSpec => ({ ...field, value: given?.[field.name]?.join('\n') })

const FORMAT: FieldSpec = {
  name: 'format',
  label: 'Form',
  options: [
    ['json', 'JSON'],
    ['slack', 'Slack'],
  ],
}

type Values = Readonly<Record<string, string>>

const readBody = ({ url = '', events, format, labels, kinds, headers }: Values) => ({
  ...(format && { format }),
  url: url.trim(),
  events: linesOf(events) as EventType[],
  ...(labels !== undefined && { labels: linesOf(labels) }),
  ...(kinds !== undefined && { kinds: linesOf(kinds) }),
  ...(headers?.trim() && { headers: readHeaders(headers) }),
})

const readHeaders = (text: string): Record<string, string> =>
  Object.fromEntries(
    linesOf(text).map((line) => {
      const [name = '', ...value] = line.split(':')
      return [name.trim(), value.join(':').trim()]
    }),
  )

export const PublisherEndpoints = ({ id, role }: OfPublisher) => (
  <Endpoints of={publisherSubscriber(id, mayAs(role, 'admin'))} />
)

/** Webhook subscriptions, with the outcome of each delivery. */
export const Endpoints = ({ of }: { of: Subscriber }) => {
  const { base, path, mayManage } = of
  return (
    <Stack>
      {mayManage && (
        <SecretButton
          label="Add webhook subscription"
          action="Add subscription"
          fields={fieldsOf(of)}
          write={(values) => send('POST', base, { path, body: readBody(values) })}
          secretTitle={SECRET_TITLE}
          secretOf={({ secret }) => secret}
        />
      )}
      <Show query={useQuery(readQuery(base, { path }))}>
        {({ endpoints }) =>
          endpoints.length === 0 ? (
            <Empty>No webhook subscriptions yet</Empty>
          ) : (
            endpoints.map((endpoint) => (
              <EndpointPanel key={endpoint.id} of={of} endpoint={endpoint} />
            ))
          )
        }
      </Show>
    </Stack>
  )
}

const DISABLED = {
  requested: 'Disabled by hand.',
  gone: 'Disabled: the URL responded with 410 (gone).',
  failing: 'Disabled after failing for days. Fix it, enable it, then resend what it missed.',
  member_removed: 'Disabled: its creator has left. Enable it to keep it.',
}

type EndpointProps = { of: Subscriber; endpoint: Endpoint }

const EndpointPanel = ({ of, endpoint }: EndpointProps) => {
  const [showsLog, setShowsLog] = useState(false)
  const { url, events, status, disabled_reason: reason, failing_since: failing } = endpoint
  const { labels = [], kinds = [], header_names: headers = [] } = endpoint as Endpoint & Filters
  const path = { ...of.path, endpoint_id: endpoint.id }
  const isOn = status === 'enabled'
  return (
    <Panel
      title={<Bdi>{url}</Bdi>}
      actions={<Badge tone={isOn ? 'ok' : 'warn'}>{isOn ? 'Enabled' : 'Disabled'}</Badge>}
    >
      {reason && <Note tone="warn">{DISABLED[reason]}</Note>}
      {isOn && failing && <Failing of={of} path={path} since={failing} />}
      <Row>
        {events.map((event) => (
          <Badge key={event}>{event}</Badge>
        ))}
        {[...labels, ...kinds].map((filter) => (
          <Badge key={filter}>{t('only {filter}', { filter })}</Badge>
        ))}
        {headers.map((name) => (
          <Badge key={name}>{t('header {name}', { name })}</Badge>
        ))}
      </Row>
      <Row>
        {of.mayManage && (
          <WriteButton
            label="Send test event"
            isDisabled={!isOn}
            write={() => send('POST', `${of.base}/{endpoint_id}/test`, { path })}
            onDone={() => setShowsLog(true)}
          />
        )}
        <Button onPress={() => setShowsLog(!showsLog)} aria-expanded={showsLog}>
          {showsLog ? 'Hide log' : 'Log'}
        </Button>
        {of.mayManage && <Management of={of} path={path} endpoint={endpoint} />}
      </Row>
      {showsLog && <EndpointLog of={of} path={path} />}
    </Panel>
  )
}

type FailingProps = { of: Subscriber; path: EndpointPath; since: string }

/** For how long deliveries fail, and why the last one did. */
const Failing = ({ of, path, since }: FailingProps) => {
  const events = `${of.base}/{endpoint_id}/events` as const
  const log = useQuery(readQuery(events, { path, query: { limit: 10 } }))
  const event = log.data?.events.find(
    ({ state, attempts }) => state !== 'delivered' && attempts > 0,
  )
  const attemptsPath = { ...path, event_id: event?.id ?? '' }
  const { data } = useQuery({
    ...readQuery(`${events}/{event_id}/attempts`, { path: attemptsPath }),
    enabled: event !== undefined,
  })
  const cause = data?.attempts.findLast(({ error_class: issue }) => issue)?.error_class
  const seconds = Math.max(1, (useNow() - Date.parse(since)) / 1000)
  return (
    <Note tone="warn">
      {t('Failing for {time}', { time: showSeconds(seconds) })}
      {cause ? `: ${CAUSES[cause]}` : ''}.
    </Note>
  )
}

type ManagementProps = EndpointProps & { path: EndpointPath }

/** Menu of those who manage a subscription. */
const Management = ({ of, path, endpoint }: ManagementProps) => {
  const [secret, setSecret] = useState<string>()
  const one = `${of.base}/{endpoint_id}` as const
  const isOn = endpoint.status === 'enabled'
  const missed = endpoint.disabled_at ?? endpoint.failing_since ?? endpoint.created_at
  const actions: Action[] = [
    {
      label: 'Edit',
      title: 'Edit webhook subscription',
      action: 'Save',
      fields: fieldsOf(of, endpoint),
      write: (values) => send('PUT', one, { path, body: readBody(values) }),
    },
    {
      label: isOn ? 'Disable' : 'Enable',
      title: isOn ? 'Disable this subscription?' : 'Enable this subscription?',
      write: () => send('PUT', one, { path, body: { status: isOn ? 'disabled' : 'enabled' } }),
      children: (
        <p>
          {isOn
            ? 'No events are sent until it is enabled again.'
            : 'New events are sent to it again.'}
        </p>
      ),
    },
    {
      label: 'Resend missed',
      title: 'Resend missed events',
      action: 'Resend',
      fields: [{ name: 'since', label: 'Since', value: localTime(missed), isTime: true }],
      write: async ({ since = '' }) => {
        const sent = await send('POST', `${one}/redeliver`, {
          path,
          body: { since: instantOf(since) },
        })
        showToast(`${counted(sent.redeliveries, 'event')} resent`)
      },
    },
    {
      label: 'Rotate secret',
      title: 'Rotate the signing secret?',
      action: 'Rotate secret',
      write: async () => {
        setSecret((await send('POST', `${one}/webhook-secret/rotate`, { path })).secret)
      },
      children: <p>Events are signed with both secrets for a day, then with the new one only.</p>,
    },
    {
      label: 'Delete',
      title: 'Delete this subscription?',
      action: 'Delete subscription',
      variant: 'danger',
      write: () => send('DELETE', one, { path }),
      children: <p>Undelivered events are dropped, and the log is deleted.</p>,
    },
  ]
  return (
    <>
      <Actions label="More actions" actions={actions} />
      {secret !== undefined && (
        <SecretDialog title={SECRET_TITLE} secret={secret} onClose={() => setSecret(undefined)} />
      )}
    </>
  )
}
