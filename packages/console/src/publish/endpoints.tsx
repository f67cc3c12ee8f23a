import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { readQuery, send, type Schema } from '../api/client.ts'
import { showToast } from '../shell/toasts.tsx'
import { Actions, type Action } from '../ui/actions.tsx'
import { linesOf, type FieldSpec } from '../ui/ask-field.tsx'
import { instantOf, localTime } from '../ui/local-time.ts'
import { SecretButton, SecretDialog, WriteButton } from '../ui/ask.tsx'
import { CAUSES } from '../words/causes.ts'
import { Button } from '../ui/button.tsx'
import { Empty, Note, Panel, Row, Show, Stack } from '../ui/panels.tsx'
import { Badge, Bdi, useNow } from '../ui/values.tsx'
import { showSeconds } from '../words/text.ts'
import { t } from '../words/translate.ts'
import { EndpointLog, type EndpointPath } from './endpoint-log.tsx'
import { mayAs, type OfPublisher } from './queries.ts'
import { publisherSubscriber, type Subscriber } from './subscriber.ts'

type Endpoint = Schema<'PublisherEndpoint'>
type EventType = Schema<'PublisherEventType'>

const SECRET_TITLE = t('Signing secret')

const GROUPS: Readonly<Record<string, string>> = {
  version: t('Versions'),
  review: t('Reviews|of versions'),
  token: t('Tokens'),
  member: t('Members'),
  image_task: t('Images'),
  video_task: t('Videos'),
  report: t('Reports'),
  breaker: t('Engines'),
  engine: t('Engines'),
  workflow: t('Workflows'),
  batch: t('Batches'),
  operation: t('Operations|of tasks'),
  queue: t('Queue'),
  store: t('Store'),
  api_key: t('API keys'),
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
    label: t('URL'),
    value: given?.url,
    help: t('Receives a signed POST for each event.'),
  },
  {
    name: 'events',
    label: t('Events'),
    value: (given?.events ?? first).join('\n'),
    many: groupEvents(events),
  },
  ...(hasFilters ? FILTERS.map((field) => withWords(field, given)) : []),
  {
    name: 'headers',
    label: t('Headers'),
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
    label: t('Only tasks with these labels'),
    chips: true,
    isOptional: true,
    help: t('As key:value. A task needs all of them.'),
  },
  {
    name: 'kinds',
    label: t('Only tasks of these kinds'),
    chips: true,
    isOptional: true,
    help: t('Such as upscale or text2video.'),
  },
]

const withWords = (
  field: FieldSpec & { name: keyof Filters },
  given: Filters | undefined,
): FieldSpec => ({ ...field, value: given?.[field.name]?.join('\n') })

const FORMAT: FieldSpec = {
  name: 'format',
  label: t('Form'),
  options: [
    ['json', 'JSON'],
    ['slack', t('Slack')],
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
          label={t('Add webhook subscription')}
          action={t('Add subscription')}
          fields={fieldsOf(of)}
          write={(values) => send('POST', base, { path, body: readBody(values) })}
          secretTitle={SECRET_TITLE}
          secretOf={({ secret }) => secret}
        />
      )}
      <Show query={useQuery(readQuery(base, { path }))}>
        {({ endpoints }) =>
          endpoints.length === 0 ? (
            <Empty>{t('No webhook subscriptions yet')}</Empty>
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
  requested: t('Disabled by hand.'),
  gone: t('Disabled: the URL responded with 410 (gone).'),
  failing: t('Disabled after failing for days. Fix it, enable it, then resend what it missed.'),
  member_removed: t('Disabled: its creator has left. Enable it to keep it.'),
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
      actions={<Badge tone={isOn ? 'ok' : 'warn'}>{isOn ? t('Enabled') : t('Disabled')}</Badge>}
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
            label={t('Send test event')}
            isDisabled={!isOn}
            write={() => send('POST', `${of.base}/{endpoint_id}/test`, { path })}
            onDone={() => setShowsLog(true)}
          />
        )}
        <Button onPress={() => setShowsLog(!showsLog)} aria-expanded={showsLog}>
          {showsLog ? t('Hide log') : t('Log')}
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
      label: t('Edit'),
      title: t('Edit webhook subscription'),
      action: t('Save'),
      fields: fieldsOf(of, endpoint),
      write: (values) => send('PUT', one, { path, body: readBody(values) }),
    },
    {
      label: isOn ? t('Disable') : t('Enable'),
      title: isOn ? t('Disable this subscription?') : t('Enable this subscription?'),
      write: () => send('PUT', one, { path, body: { status: isOn ? 'disabled' : 'enabled' } }),
      children: (
        <p>
          {isOn
            ? t('No events are sent until it is enabled again.')
            : t('New events are sent to it again.')}
        </p>
      ),
    },
    {
      label: t('Resend missed'),
      title: t('Resend missed events'),
      action: t('Resend'),
      fields: [{ name: 'since', label: t('Since'), value: localTime(missed), isTime: true }],
      write: async ({ since = '' }) => {
        const sent = await send('POST', `${one}/redeliver`, {
          path,
          body: { since: instantOf(since) },
        })
        showToast(
          t('{count, plural, one {# event} other {# events}} resent', { count: sent.redeliveries }),
        )
      },
    },
    {
      label: t('Rotate secret'),
      title: t('Rotate the signing secret?'),
      action: t('Rotate secret'),
      write: async () => {
        setSecret((await send('POST', `${one}/webhook-secret/rotate`, { path })).secret)
      },
      children: (
        <p>{t('Events are signed with both secrets for a day, then with the new one only.')}</p>
      ),
    },
    {
      label: t('Delete'),
      title: t('Delete this subscription?'),
      action: t('Delete subscription'),
      variant: 'danger',
      write: () => send('DELETE', one, { path }),
      children: <p>{t('Undelivered events are dropped, and the log is deleted.')}</p>,
    },
  ]
  return (
    <>
      <Actions label={t('More actions')} actions={actions} />
      {secret !== undefined && (
        <SecretDialog title={SECRET_TITLE} secret={secret} onClose={() => setSecret(undefined)} />
      )}
    </>
  )
}
