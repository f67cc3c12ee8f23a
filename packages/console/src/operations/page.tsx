import { useQuery } from '@tanstack/react-query'

import { readQuery, send, type Data } from '../api/client.ts'
import { Actions, type Action } from '../ui/actions.tsx'
import { Link, OutLink, taskPage } from '../ui/link.tsx'
import { Columns, Note, PageTitle, Panel, Row, Show, Stack } from '../ui/panels.tsx'
import { Rows } from '../ui/rows.tsx'
import { Badge, Bdi, Time } from '../ui/values.tsx'
import { counted, showSeconds } from '../words/text.ts'
import { listAttention } from './attention.ts'
import { FleetPanels } from './fleet.tsx'
import { LastHour } from './last-hour.tsx'
import { Endpoints } from '../publish/endpoints.tsx'
import { PLATFORM } from '../publish/subscriber.ts'
import { Owners } from './owners.tsx'
import { Pauses } from './pauses.tsx'

type Operations = Data<'/admin/operations'>
type Task = Operations['stuck']['tasks'][number]
type Version = Operations['stuck']['versions'][number]

const operationsQuery = readQuery('/admin/operations', {}, { refetchInterval: 5000 })

/** Page of what stands still or piles up, read again every five seconds while somebody looks at it. */
export const Page = () => {
  const operations = useQuery(operationsQuery)
  const temporal = operations.data?.temporal.ui_url
  const links = (
    <>
      {temporal && <OutLink href={temporal}>Temporal</OutLink>}
      <OutLink href="/docs">Documentation</OutLink>
    </>
  )
  return (
    <>
      <PageTitle actions={links}>Operations</PageTitle>
      <Show query={operations}>
        {(data) => (
          <Stack>
            <Attention data={data} />
            <LastHour hour={data.last_hour} />
            <Pauses />
            <Stuck stuck={data.stuck} />
            <FleetPanels />
            <Queues temporal={data.temporal} />
            <Owners />
            <Panel title="Notices">
              <Endpoints of={PLATFORM} />
            </Panel>
            <Columns>
              <Deliveries deliveries={data.deliveries} />
              <Outbox outbox={data.outbox} />
            </Columns>
          </Stack>
        )}
      </Show>
    </>
  )
}

const Attention = ({ data }: { data: Operations }) => {
  const all = listAttention(data)
  if (all.length === 0) return <Note tone="ok">Nothing needs attention.</Note>
  return (
    <Panel title="Needs attention">
      {all.map(({ tone, text, panel }) => (
        <Note key={text} tone={tone}>
          <Bdi>{text}</Bdi> <a href={`#${panel}`}>Show</a>
        </Note>
      ))}
    </Panel>
  )
}

const Stuck = ({ stuck: { after_seconds: after, tasks, versions } }: Pick<Operations, 'stuck'>) => (
  <Panel id="stuck" title="Without progress">
    <Rows
      label="Without progress"
      rows={[...tasks, ...versions]}
      empty={`Nothing without progress for more than ${showSeconds(after)}`}
      columns={{
        What: (work) =>
          'kind' in work ? (
            <>
              {rich('{task} of {owner}', {
                task: <Link {...taskPage(work.id)}>{work.kind}</Link>,
                owner: <Bdi>{work.owner}</Bdi>,
              })}
            </>
          ) : (
            <Link
              to="/moderation"
              search={{ status: 'Pending', version: `${work.node_id}@${work.version}` }}
            >
              <Bdi>{`${work.node_id} ${work.version}`}</Bdi>
            </Link>
          ),
        State: (work) =>
          'kind' in work ? <Badge tone="warn">{work.status}</Badge> : <Bdi>{work.reason}</Bdi>,
        Since: ({ since }) => <Time at={since} />,
        '': (work) => <Actions label={`More for ${nameOf(work)}`} actions={actionsOn(work)} />,
      }}
    />
  </Panel>
)

const nameOf = (work: Task | Version): string =>
  'kind' in work ? `${work.kind} ${work.id}` : `${work.node_id} ${work.version}`

const WHY = { name: 'reason', label: 'Reason' }

/** Actions of an admin on a task or a version that stands still. */
const actionsOn = (work: Task | Version): Action[] => {
  const path = { id: work.id }
  if (!('kind' in work))
    return [
      {
        label: 'Restart',
        title: `Restart the checks of ${nameOf(work)}?`,
        action: 'Restart checks',
        write: () => send('POST', '/admin/versions/{id}/restart', { path, body: {} }),
      },
    ]
  return [
    {
      label: 'Restart',
      title: `Restart ${nameOf(work)}?`,
      action: 'Restart task',
      fields: [{ ...WHY, isOptional: true }],
      write: ({ reason }) => {
        const body = reason ? { reason } : {}
        return send('POST', '/admin/tasks/{id}/restart', { path, body })
      },
      children: <p>The workflow stops and starts again. Finished steps are not repeated.</p>,
    },
    {
      label: 'Fail',
      variant: 'danger',
      title: `Fail ${nameOf(work)}?`,
      action: 'Fail task',
      fields: [{ ...WHY, help: 'Recorded in the audit log.', rows: 2 }],
      write: ({ reason = '' }) =>
        send('POST', '/admin/tasks/{id}/fail', { path, body: { reason } }),
    },
  ]
}

const Queues = ({
  temporal: { reachable, error, queues, views = [] },
}: Pick<Operations, 'temporal'>) => (
  <Panel id="queues" title="Queues">
    {views.length > 0 && (
      <Row>
        {t('In Temporal:')}
        {views.map(({ name, url }) => (
          <OutLink key={name} href={url}>
            {name}
          </OutLink>
        ))}
      </Row>
    )}
    {!reachable && (
      <Note tone="bad">
        Temporal does not respond. New work waits; nothing is lost. <Bdi>{error}</Bdi>
      </Note>
    )}
    <Rows
      label="Queues"
      rows={queues}
      empty="No queues"
      columns={{
        Queue: ({ name, type }) => (
          <>
            <code>{name}</code> {type}
          </>
        ),
        Waiting: ({ backlog }) => backlog.toLocaleString('en'),
        Oldest: ({ backlog, backlog_age_seconds: age }) => (backlog === 0 ? '–' : showSeconds(age)),
        Workers: ({ pollers }) =>
          pollers.length === 0 ? (
            <Badge tone="bad">none: start a worker</Badge>
          ) : (
            pollers.map(({ identity, seen_at: seen }) => (
              <div key={identity}>
                <Bdi as="code">{identity}</Bdi> <Time at={seen} />
              </div>
            ))
          ),
      }}
    />
  </Panel>
)

const Deliveries = ({ deliveries }: Pick<Operations, 'deliveries'>) => (
  <Panel id="hosts" title="Deliveries by webhook host">
    {deliveries.is_sample && (
      <Note>
        {t('Only {counted} of {waiting} waiting events are counted.', {
          counted: showNumber(10_000),
          waiting: showNumber(deliveries.waiting),
        })}
      </Note>
    )}
    <Rows
      label="Webhook hosts"
      rows={deliveries.receivers}
      empty="All events delivered"
      columns={{
        Host: ({ host, paused }) => (
          <>
            <Bdi>{host}</Bdi> {paused && <Badge tone="warn">paused</Badge>}
          </>
        ),
        Waiting: ({ waiting, failing }) => (
          <>
            {counted(waiting, 'event')}{' '}
            {failing > 0 && <Badge tone="warn">{t('{failing} failing', { failing })}</Badge>}
          </>
        ),
        Oldest: ({ oldest_at: at }) => <Time at={at} />,
        'Next attempt': ({ next_try_at: at }) => <Time at={at} />,
      }}
    />
  </Panel>
)

const Outbox = ({ outbox: { waiting, rows } }: Pick<Operations, 'outbox'>) => (
  <Panel id="outbox" title="Waiting for Temporal">
    {rows[0] && (
      <p>
        {rich('{count, plural, one {# message} other {# messages}}, oldest {time}', {
          count: waiting,
          time: <Time at={rows[0].at} />,
        })}
      </p>
    )}
    <Rows
      label="Waiting for Temporal"
      rows={rows}
      empty="Nothing waits"
      columns={{
        Workflow: ({ kind, workflow_id: id, last_error: error }) => (
          <>
            {kind} <code>{id}</code> <Bdi>{error}</Bdi>
          </>
        ),
        Attempts: ({ tries: attempts }) => counted(attempts, 'attempt'),
        Since: ({ at }) => <Time at={at} />,
      }}
    />
  </Panel>
)
