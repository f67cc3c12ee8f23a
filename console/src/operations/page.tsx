import { useQuery } from '@tanstack/react-query'

import { answerOf, api } from '../api/client.ts'
import { AskButton } from '../ui/ask.tsx'
import { Badge } from '../ui/badge.tsx'
import { Link, OutLink } from '../ui/link.tsx'
import { Table } from '../ui/list.tsx'
import { Columns, PageTitle, Row, Stack } from '../ui/page.tsx'
import { Empty, Note, Panel, Show } from '../ui/panels.tsx'
import { Bdi } from '../ui/text.tsx'
import { Time } from '../ui/values.tsx'
import { counted, showSeconds } from '../words/text.ts'
import { Sparkline } from './sparkline.tsx'

const KEY = ['operations'] as const
const EVERY_MS = 5000

const readOperations = async (signal: AbortSignal) =>
  await answerOf(api.GET('/admin/operations', { signal }))
type Operations = Awaited<ReturnType<typeof readOperations>>

const backlogOf = ({ temporal }: Operations): number =>
  temporal.queues.reduce((sum, { backlog }) => sum + backlog, 0)

/** What stands still or piles up, read again every five seconds while it is looked at. */
export const OperationsPage = () => {
  const operations = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => readOperations(signal),
    refetchInterval: EVERY_MS,
  })
  return (
    <>
      <PageTitle
        actions={
          <Row>
            <TemporalLink href={operations.data?.temporal.ui_url} />
            <OutLink href="/docs">Documentation</OutLink>
          </Row>
        }
      >
        Operations
      </PageTitle>
      <Show query={operations}>
        {(data) => (
          <Stack>
            <Figures data={data} at={operations.dataUpdatedAt} />
            <Stuck stuck={data.stuck} />
            <Queues temporal={data.temporal} />
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

const TemporalLink = ({ href }: { href: string | undefined }) =>
  href === undefined ? null : <OutLink href={href}>Temporal</OutLink>

const Figures = ({ data, at }: { data: Operations; at: number }) => {
  const { stuck, deliveries, outbox } = data
  const figures = [
    ['Stuck', stuck.tasks.length + stuck.versions.length],
    ['Waiting in queues', backlogOf(data)],
    ['Deliveries waiting', deliveries.waiting],
    ['Outbox', outbox.waiting],
  ] as const
  return (
    <div
      style={{
        display: 'grid',
        gap: 16,
        gridTemplateColumns: 'repeat(auto-fit, minmax(150px, 1fr))',
      }}
    >
      {figures.map(([name, value]) => (
        <Panel key={name} title={name} actions={<strong>{value.toLocaleString('en')}</strong>}>
          <Sparkline name={name} value={value} at={at} />
        </Panel>
      ))}
    </div>
  )
}

const Stuck = ({ stuck: { after_seconds: after, tasks, versions } }: Pick<Operations, 'stuck'>) => (
  <Panel title="Stuck work">
    {tasks.length + versions.length === 0 ? (
      <Empty>Nothing has stood still for longer than {showSeconds(after)}.</Empty>
    ) : (
      <Table label="Stuck work" columns={['What', 'State', 'Since', '']}>
        {tasks.map(({ id, kind, owner, status, since }) => (
          <tr key={id}>
            <td>
              <Link to="/tasks/$task" params={{ task: id }}>
                {kind}
              </Link>{' '}
              of <Bdi>{owner}</Bdi>
            </td>
            <td>
              <Badge tone="warn">{status}</Badge>
            </td>
            <td>
              <Time at={since} />
            </td>
            <td>
              <Row>
                <AskButton
                  label="Restart"
                  title={`Restart ${kind} ${id}?`}
                  action="Restart task"
                  fields={[{ name: 'reason', label: 'Reason', isOptional: true }]}
                  write={({ reason }, headers) =>
                    answerOf(
                      api.POST('/admin/tasks/{id}/restart', {
                        params: { path: { id } },
                        body: reason ? { reason } : {},
                        headers,
                      }),
                    )
                  }
                  refresh={[KEY]}
                >
                  <p>Its workflow ends and begins anew. What is done already is not done again.</p>
                </AskButton>
                <AskButton
                  label="Fail"
                  look="danger"
                  title={`Fail ${kind} ${id}?`}
                  action="Fail task"
                  fields={[
                    { name: 'reason', label: 'Reason', help: 'Its owner reads it.', rows: 2 },
                  ]}
                  write={({ reason = '' }, headers) =>
                    answerOf(
                      api.POST('/admin/tasks/{id}/fail', {
                        params: { path: { id } },
                        body: { reason },
                        headers,
                      }),
                    )
                  }
                  refresh={[KEY]}
                />
              </Row>
            </td>
          </tr>
        ))}
        {versions.map(({ id, node_id: nodeId, version, reason, since }) => (
          <tr key={id}>
            <td>
              <Link
                to="/moderation"
                search={{ status: 'Pending', version: `${nodeId}@${version}` }}
              >
                <Bdi>{`${nodeId} ${version}`}</Bdi>
              </Link>
            </td>
            <td>
              <Bdi>{reason}</Bdi>
            </td>
            <td>
              <Time at={since} />
            </td>
            <td>
              <AskButton
                label="Restart"
                title={`Restart the checks of ${nodeId} ${version}?`}
                action="Restart checks"
                write={(_, headers) =>
                  answerOf(
                    api.POST('/admin/versions/{id}/restart', {
                      params: { path: { id } },
                      body: {},
                      headers,
                    }),
                  )
                }
                refresh={[KEY]}
              />
            </td>
          </tr>
        ))}
      </Table>
    )}
  </Panel>
)

const Queues = ({ temporal: { reachable, error, queues } }: Pick<Operations, 'temporal'>) => (
  <Panel title="Queues">
    {!reachable && (
      <Note tone="bad">
        <p>
          Temporal does not answer: nothing new is begun, and nothing is lost. <Bdi>{error}</Bdi>
        </p>
      </Note>
    )}
    {queues.length > 0 && (
      <Table label="Queues" columns={['Queue', 'Waiting', 'Oldest waits', 'Polled by']}>
        {queues.map(({ name, type, backlog, backlog_age_seconds: age, pollers }) => (
          <tr key={`${name} ${type}`}>
            <td>
              <code>{name}</code> {type}
            </td>
            <td>{backlog.toLocaleString('en')}</td>
            <td>{backlog === 0 ? '–' : showSeconds(age)}</td>
            <td>
              {pollers.length === 0 && <Badge tone="bad">nobody: start a worker</Badge>}
              {pollers.map(({ identity, seen_at: seen }) => (
                <div key={identity}>
                  <code>
                    <Bdi>{identity}</Bdi>
                  </code>{' '}
                  <Time at={seen} />
                </div>
              ))}
            </td>
          </tr>
        ))}
      </Table>
    )}
  </Panel>
)

const Deliveries = ({
  deliveries: { waiting, is_sample: isSample, receivers },
}: Pick<Operations, 'deliveries'>) => (
  <Panel title="Deliveries by receiver">
    {isSample && <Note>Of {waiting.toLocaleString('en')} that wait, 10,000 are counted.</Note>}
    {receivers.length === 0 ? (
      <Empty>Everybody has been told.</Empty>
    ) : (
      <Table label="Receivers" columns={['Receiver', 'Waiting', 'Oldest', 'Next try']}>
        {receivers.map(
          ({ host, waiting: count, failing, oldest_at: oldest, next_try_at: next }) => (
            <tr key={host}>
              <td>
                <Bdi>{host}</Bdi>
              </td>
              <td>
                {counted(count, 'event')}
                {failing > 0 && (
                  <>
                    {' '}
                    <Badge tone="warn">{failing} tried in vain</Badge>
                  </>
                )}
              </td>
              <td>
                <Time at={oldest} />
              </td>
              <td>
                <Time at={next} />
              </td>
            </tr>
          ),
        )}
      </Table>
    )}
  </Panel>
)

const Outbox = ({ outbox: { waiting, rows } }: Pick<Operations, 'outbox'>) => (
  <Panel title="Outbox">
    {rows.length === 0 ? (
      <Empty>Temporal knows of everything.</Empty>
    ) : (
      <>
        <p>
          {counted(waiting, 'row')}; the oldest of <Time at={rows[0]?.at} />.
        </p>
        <Table label="Outbox" columns={['Workflow', 'Tries', 'Since']}>
          {rows.map(({ workflow_id: id, kind, tries, at, last_error: error }) => (
            <tr key={`${id} ${kind}`}>
              <td>
                {kind} <code>{id}</code> <Bdi>{error}</Bdi>
              </td>
              <td>{counted(tries, 'try', 'tries')}</td>
              <td>
                <Time at={at} />
              </td>
            </tr>
          ))}
        </Table>
      </>
    )}
  </Panel>
)
