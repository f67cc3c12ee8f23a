import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'

import { inPlainWords } from '../api/issues.ts'
import { VIDEOS } from '../../../client/src/lib/task.ts'
import { Code } from '../ui/code.tsx'
import { Link } from '../ui/link.tsx'
import { PageTitle, Stack } from '../ui/panels.tsx'
import { Listing } from '../ui/rows.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Badge, Bdi, StateBadge, Time } from '../ui/values.tsx'
import { t } from '../words/translate.ts'
import { BulkDetail } from './bulk-detail.tsx'
import { bulkQuery, bulksQuery, idOf, type BulkItem, type BulkKind } from './bulk-queries.ts'
import { describeBulk, stateOfBulk, titleOfBulk } from './bulk-words.ts'
import { NewBatch } from './new-batch.tsx'

const route = getRouteApi('/tasks/bulk')

/** Page of the caller's batches and operations: a list of each, or the one that the address names. */
export const Page = () => {
  const tabs = {
    batches: [t('Batches'), <Bulks key="batches" kind="batches" />],
    operations: [t('Operations'), <Bulks key="operations" kind="operations" />],
  } as const
  return (
    <>
      <PageTitle actions={<Link to="/tasks">{t('All tasks')}</Link>}>
        {t('Batches and operations')}
      </PageTitle>
      <Tabs label={t('Batches and operations')} tabs={tabs} />
    </>
  )
}

const LINE = JSON.stringify({
  path: `${VIDEOS}/text2video`,
  body: { prompt: 'a calm sea', model: 'videoq1' },
})

const NONE = {
  batches: (
    <>
      <p>{t('No batches yet. A file with one request per line creates up to 100,000 tasks.')}</p>
      <Code text={LINE} label={t('line of a file')} />
      <a href="/docs/batches">{t('Read the guide')}</a>
    </>
  ),
  operations: t('No operations yet. Select tasks in their list to act on many at once.'),
}

const Bulks = ({ kind }: { kind: BulkKind }) => {
  const { id } = route.useSearch()
  return id === undefined ? <BulkList kind={kind} /> : <BulkDetail key={id} kind={kind} id={id} />
}

const BulkList = ({ kind }: { kind: BulkKind }) => (
  <Stack>
    {kind === 'batches' && <NewBatch />}
    <Listing
      label={kind === 'batches' ? t('Batches') : t('Operations')}
      query={useInfiniteQuery(bulksQuery(kind))}
      empty={NONE[kind]}
      columns={COLUMNS[kind]}
      below={({ error }) => error && <Bdi className="small">{inPlainWords(error.message)}</Bdi>}
    />
  </Stack>
)

const columnsOf = (kind: BulkKind) => ({
  [kind === 'batches' ? t('Batch') : t('Operation')]: (item: BulkItem) => (
    <div>
      <Link to="." search={{ tab: kind, id: idOf(item) }}>
        {titleOfBulk(item)}
      </Link>{' '}
      {'labels' in item &&
        Object.entries(item.labels ?? {}).map(([key, value]) => (
          <Badge key={key}>{`${key}: ${value}`}</Badge>
        ))}
    </div>
  ),
  [t('State')]: (item: BulkItem) => <Live kind={kind} item={item} />,
  [t('Progress')]: (item: BulkItem) => <Counts kind={kind} item={item} />,
  [t('Created')]: ({ created_at: at }: BulkItem) => <Time at={at} />,
  [t('Ended')]: ({ ended_at: at }: BulkItem) => <Time at={at} none="" />,
})
const COLUMNS = { batches: columnsOf('batches'), operations: columnsOf('operations') }

type OfItem = { kind: BulkKind; item: BulkItem }

/** State as it is now, not as when the list was read. */
const Live = ({ kind, item }: OfItem) => {
  const { data } = useQuery(bulkQuery(kind, idOf(item)))
  return <StateBadge state={data ? stateOfBulk(data) : item.state} />
}

const Counts = ({ kind, item }: OfItem) => {
  const { data } = useQuery(bulkQuery(kind, idOf(item)))
  return data
    ? describeBulk(data)
    : t('of {count, plural, one {# item} other {# items}}', { count: item.total })
}
