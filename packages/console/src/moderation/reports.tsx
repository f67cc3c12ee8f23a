import { useInfiniteQuery } from '@tanstack/react-query'

import { NUMBERED, read, send, type Data } from '../api/client.ts'
import { Actions } from '../ui/actions.tsx'
import { giveAway } from '../manage/transfer.tsx'
import { REPORT_REASONS } from '../registry/report.tsx'
import { AskButton } from '../ui/ask.tsx'
import { Link, nodePage } from '../ui/link.tsx'
import { Row } from '../ui/panels.tsx'
import { Listing } from '../ui/rows.tsx'
import { Bdi, Time } from '../ui/values.tsx'
import { t } from '../words/translate.ts'
import { banOf } from './bans.tsx'

type Report = Data<'/admin/reports'>['reports'][number]

/** Open reports about packs, the oldest first. A ban or a transfer is one decision, what the reporter reads another. */
export const Reports = () => (
  <Listing
    label={t('Reports')}
    query={useInfiniteQuery({
      queryKey: ['admin', 'reports', 'pages'],
      queryFn: ({ pageParam: page, signal }) =>
        read('/admin/reports', { query: { page, pageSize: 25 } }, signal),
      ...NUMBERED,
      select: ({ pages }) => pages.flatMap(({ reports }) => reports),
    })}
    empty={t('No open reports')}
    columns={COLUMNS}
  />
)

const COLUMNS = {
  [t('Pack')]: ({ node_id: id, open_of_node: open }: Report) => (
    <>
      <Link {...nodePage(id)}>{id}</Link>
      {open > 1 && (
        <p className="soft small">
          {t('{count, plural, one {# open report} other {# open reports}}', { count: open })}
        </p>
      )}
    </>
  ),
  [t('Report|noun')]: ({ reason, text }: Report) => (
    <>
      <strong>{REPORT_REASONS[reason]}</strong>
      <Bdi as="p">{text}</Bdi>
    </>
  ),
  [t('By')]: ({ reported_by: by, created_at: at }: Report) => (
    <>
      <Bdi>{by}</Bdi> <Time at={at} />
    </>
  ),
  '': (report: Report) => (
    <Row>
      <Close report={report} />
      <Actions
        label={t('More for {node_id}', { node_id: report.node_id })}
        actions={[banOf('node', report.node_id), giveAway(report.node_id)]}
      />
    </Row>
  ),
}

const Close = ({
  report: { id: reportId, node_id: node, open_of_node: open },
}: {
  report: Report
}) => (
  <AskButton
    label={t('Close')}
    title={t('Close the report about {node}?', { node })}
    action={t('Close report')}
    fields={[
      {
        name: 'decision',
        label: t('Decision'),
        rows: 3,
        help: t('The reporter can read it. The pack itself does not change.'),
      },
      ...(open > 1
        ? [
            {
              name: 'all',
              label: t('Reports to close'),
              value: '',
              options: { '': t('This one'), true: t('All {open} about this pack', { open }) },
              isOptional: true,
            },
          ]
        : []),
    ]}
    write={({ decision = '', all }) =>
      send('POST', '/admin/reports/{reportId}/close', {
        path: { reportId },
        body: { decision, all: all === 'true' },
      })
    }
  />
)
