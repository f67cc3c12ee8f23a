import { useQuery } from '@tanstack/react-query'

import { readQuery, send, type Data } from '../api/client.ts'
import { Actions, type Action } from '../ui/actions.tsx'
import { Link, OutLink, taskPage } from '../ui/link.tsx'
import { Columns, Note, PageTitle, Panel, Row, Show, Stack } from '../ui/panels.tsx'
import { Rows } from '../ui/rows.tsx'
import { Badge, Bdi, Time } from '../ui/values.tsx'
import { showNumber } from '../words/language.ts'
import { showSeconds } from '../words/text.ts'
import { rich, t } from '../words/translate.ts'
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
      {temporal && <OutLink href={temporal}>{t('Temporal')}</OutLink>}
      <OutLink href="/docs/overview">{t('Documentation')}</OutLink>
    </>
  )
  return (
    <>
      <PageTitle actions={links}>{t('Operations')}</PageTitle>
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
            <Panel title={t('Notices')}>
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
  if (all.length === 0) return <Note tone="ok">{t('Nothing needs attention.')}</Note>
  return (
    <Panel title={t('Needs attention')}>
      {all.map(({ tone, text, since, panel }) => (
        <Note key={text} tone={tone}>
          <Bdi>{text}</Bdi> <Time at={since} none="" />{' '}
          {panel !== undefined && <a href={`#${panel}`}>{t('Show')}</a>}
        </Note>
      ))}
    </Panel>
  )
}

const Stuck = ({ stuck: { after_seconds: after, tasks, versions } }: Pick<Operations, 'stuck'>) => (
  <Panel id="stuck" title={t('Without progress')}>
    <Rows
      label={t('Without progress')}
      rows={[...tasks, ...versions]}
      empty={t('No job stuck for more than {time}', { time: showSeconds(after) })}
      columns={{
        [t('What')]: (work) =>
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
        [t('State')]: (work) =>
          'kind' in work ? <Badge tone="warn">{work.status}</Badge> : <Bdi>{work.reason}</Bdi>,
        [t('Since')]: ({ since }) => <Time at={since} />,
        '': (work) => (
          <Actions label={t('More for {work}', { work: nameOf(work) })} actions={actionsOn(work)} />
        ),
      }}
    />
  </Panel>
)

const nameOf = (work: Task | Version): string =>
  'kind' in work ? `${work.kind} ${work.id}` : `${work.node_id} ${work.version}`

const WHY = { name: 'reason', label: t('Reason') }

/** Actions of an admin on a task or a version that stands still. */
const actionsOn = (work: Task | Version): Action[] => {
  const path = { id: work.id }
  if (!('kind' in work))
    return [
      {
        label: t('Restart'),
        title: t('Restart the checks of {work}?', { work: nameOf(work) }),
        action: t('Restart checks'),
        write: () => send('POST', '/admin/versions/{id}/restart', { path, body: {} }),
      },
    ]
  return [
    {
      label: t('Restart'),
      title: t('Restart {work}?', { work: nameOf(work) }),
      action: t('Restart task'),
      fields: [{ ...WHY, isOptional: true }],
      write: ({ reason }) => {
        const body = reason ? { reason } : {}
        return send('POST', '/admin/tasks/{id}/restart', { path, body })
      },
      children: <p>{t('The workflow stops and starts again. Finished steps are not repeated.')}</p>,
    },
    {
      label: t('Fail'),
      variant: 'danger',
      title: t('Fail {work}?', { work: nameOf(work) }),
      action: t('Fail task'),
      fields: [{ ...WHY, help: t('Recorded in the audit log.'), rows: 2 }],
      write: ({ reason = '' }) =>
        send('POST', '/admin/tasks/{id}/fail', { path, body: { reason } }),
    },
  ]
}

const Queues = ({
  temporal: { reachable, error, queues, views = [] },
}: Pick<Operations, 'temporal'>) => (
  <Panel id="queues" title={t('Queues')}>
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
        {rich('Temporal does not respond. New work waits; nothing is lost. {error}', {
          error: <Bdi>{error}</Bdi>,
        })}
      </Note>
    )}
    <Rows
      label={t('Queues')}
      rows={queues}
      empty={t('No queues')}
      columns={{
        [t('Queue')]: ({ name, type }) => (
          <>
            <code>{name}</code> {type}
          </>
        ),
        [t('Waiting')]: ({ backlog }) => showNumber(backlog),
        [t('Oldest')]: ({ backlog, backlog_age_seconds: age }) =>
          backlog === 0 ? '–' : showSeconds(age),
        [t('Workers')]: ({ pollers }) =>
          pollers.length === 0 ? (
            <Badge tone="bad">{t('none: start a worker')}</Badge>
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
  <Panel id="hosts" title={t('Deliveries by webhook host')}>
    {deliveries.is_sample && (
      <Note>
        {t('Only {counted} of {waiting} waiting events are counted.', {
          counted: showNumber(10_000),
          waiting: showNumber(deliveries.waiting),
        })}
      </Note>
    )}
    <Rows
      label={t('Webhook hosts')}
      rows={deliveries.receivers}
      empty={t('All events delivered')}
      columns={{
        [t('Host')]: ({ host, paused }) => (
          <>
            <Bdi>{host}</Bdi> {paused && <Badge tone="warn">{t('paused')}</Badge>}
          </>
        ),
        [t('Waiting')]: ({ waiting, failing }) => (
          <>
            {t('{count, plural, one {# event} other {# events}}', { count: waiting })}{' '}
            {failing > 0 && <Badge tone="warn">{t('{failing} failing', { failing })}</Badge>}
          </>
        ),
        [t('Oldest')]: ({ oldest_at: at }) => <Time at={at} />,
        [t('Next attempt')]: ({ next_try_at: at }) => <Time at={at} />,
      }}
    />
  </Panel>
)

const Outbox = ({ outbox: { waiting, rows } }: Pick<Operations, 'outbox'>) => (
  <Panel id="outbox" title={t('Waiting for Temporal')}>
    {rows[0] && (
      <p>
        {rich('{count, plural, one {# message} other {# messages}}, oldest {time}', {
          count: waiting,
          time: <Time at={rows[0].at} />,
        })}
      </p>
    )}
    <Rows
      label={t('Waiting for Temporal')}
      rows={rows}
      empty={t('Nothing is waiting')}
      columns={{
        [t('Workflow')]: ({ kind, workflow_id: id, last_error: error }) => (
          <>
            {kind} <code>{id}</code> <Bdi>{error}</Bdi>
          </>
        ),
        [t('Attempts')]: ({ tries: attempts }) =>
          t('{count, plural, one {# attempt} other {# attempts}}', { count: attempts }),
        [t('Since')]: ({ at }) => <Time at={at} />,
      }}
    />
  </Panel>
)
