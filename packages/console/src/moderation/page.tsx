import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { GridList, GridListItem } from 'react-aria-components/GridList'

import type { paths } from '../../../client/src/index.ts'
import { NUMBERED, read, readQuery } from '../api/client.ts'
import { lazyPart } from '../shell/lazy-page.ts'
import { AddressField, Select } from '../ui/fields.tsx'
import { countsInWords } from '../ui/findings.tsx'
import { Empty, Loading, PageTitle, Row, Show, Stack } from '../ui/panels.tsx'
import { NextPage, PreviousPage } from '../ui/rows.tsx'
import { useChangeSearch } from '../ui/address.ts'
import { Tabs } from '../ui/tabs.tsx'
import { Badge, Bdi, StateBadge, Time } from '../ui/values.tsx'
import { rich, t } from '../words/translate.ts'
import { Bans } from './bans.tsx'
import { Decide, keyOf, type Version } from './decide.tsx'
import { Detail } from './detail.tsx'
import styles from './moderation.module.css'

const route = getRouteApi('/moderation')

const CHOICES = {
  review: t('Review requested'),
  Flagged: t('Flagged'),
  Pending: t('Checking'),
  Active: t('Published'),
  Banned: t('Banned'),
}

type Query = NonNullable<paths['/versions']['get']['parameters']['query']>

/** API query of each list. */
const FILTERS: Record<keyof typeof CHOICES | 'failed', Query> = {
  review: { sort: 'review' },
  Flagged: { statuses: ['NodeVersionStatusFlagged'] },
  failed: { statuses: ['NodeVersionStatusPending'], status_reason: 'checks could not run' },
  Pending: { statuses: ['NodeVersionStatusPending'] },
  Active: { statuses: ['NodeVersionStatusActive'] },
  Banned: { statuses: ['NodeVersionStatusBanned'] },
}

const NONE: Readonly<Record<string, string>> = {
  review: t('Queue is empty'),
  failed: t('No failed checks'),
}

/** Versions to decide on, the oldest request first, with one of them beside the list; on a phone in its place. */
const Queue = ({ isFailed = false }) => {
  const { status = 'review', node: nodeId, q: status_reason, version } = route.useSearch()
  const changeSearch = useChangeSearch()
  const filter = isFailed ? 'failed' : status
  const query = {
    pageSize: 50,
    ...(nodeId && { nodeId }),
    ...(status_reason && { status_reason }),
    ...FILTERS[filter],
  }
  const list = useInfiniteQuery({
    queryKey: ['moderation', query],
    queryFn: ({ pageParam: page, signal }) =>
      read('/versions', { query: { page, ...query } }, signal),
    ...NUMBERED,
    refetchInterval: 15_000,
  })
  const [chosen, setChosen] = useState<readonly string[]>([])
  const versions = list.data?.pages.flatMap((page) => page.versions) ?? []
  const none = NONE[filter] ?? t('No versions')
  const many = versions.filter((one) => chosen.includes(keyOf(one)))
  return (
    <div className={`split ${styles.split}`} data-open={version !== undefined || undefined}>
      <Stack>
        {!isFailed && (
          <>
            <Select
              label={t('Show')}
              isLabelHidden
              options={CHOICES}
              value={status}
              onChange={(next) => changeSearch({ status: next, version: undefined })}
            />
            <div className={`stack tight ${styles.filters}`}>
              <AddressField label={t('Pack ID')} name="node" />
              <AddressField label={t('Search reasons')} />
            </div>
          </>
        )}
        <Show query={list}>
          {({ pages }) => (
            <>
              <p>
                {t(
                  '{count, plural, one {# version} other {# versions}}. Shift- or Ctrl-click to select several.',
                  { count: pages[0]?.total ?? 0 },
                )}
              </p>
              <PreviousPage query={list} />
              <GridList
                aria-label={t('Versions')}
                className={styles.list}
                selectionMode="multiple"
                selectionBehavior="replace"
                selectedKeys={chosen.length === 0 && version ? [version] : chosen}
                onSelectionChange={(keys) => {
                  const now = keys === 'all' ? versions.map(keyOf) : [...keys].map(String)
                  setChosen(now)
                  if (now.length === 1) changeSearch({ version: now[0] })
                }}
                onAction={(key) => changeSearch({ version: String(key) }, { replace: false })}
                renderEmptyState={() => <Empty>{none}</Empty>}
              >
                {versions.map((one) => (
                  <VersionItem key={keyOf(one)} version={one} />
                ))}
              </GridList>
              <NextPage query={list} />
            </>
          )}
        </Show>
      </Stack>
      <div>
        {many.length > 1 ? (
          <Stack>
            <h2>
              {t('{count, plural, one {# version} other {# versions}} selected', {
                count: many.length,
              })}
            </h2>
            <Decide versions={many} />
          </Stack>
        ) : version === undefined ? (
          <Empty>{t('Select a version to see its findings and changes.')}</Empty>
        ) : (
          <Detail
            key={version}
            id={version}
            listed={versions.find((one) => keyOf(one) === version)}
            onBack={() => changeSearch({ version: undefined })}
          />
        )}
      </div>
    </div>
  )
}

const VersionItem = ({ version }: { version: Version }) => {
  const { moderation, status, status_reason: reason, createdAt } = version
  const key = keyOf(version)
  const review = moderation?.review
  return (
    <GridListItem id={key} textValue={key} className={`stack small ${styles.item}`}>
      <Row>
        <Bdi as="strong">{key}</Bdi>
        <StateBadge state={status} />
        {moderation?.publisher.status === 'PublisherStatusBanned' && (
          <Badge tone="bad">{t('publisher banned')}</Badge>
        )}
      </Row>
      <span>
        <Bdi>{moderation?.publisher.name}</Bdi>,{' '}
        {rich(review ? t('requested {time}') : t('published {time}'), {
          time: <Time at={review?.createdAt ?? createdAt} />,
        })}
        {moderation && `; ${countsInWords(moderation.findings)}`}
      </span>
      <Bdi as="span" className="cut soft">
        {review?.note ?? reason}
      </Bdi>
    </GridListItem>
  )
}

// Who decides on versions needs none of these.
const AuditLog = lazyPart(async () => (await import('./audit-log.tsx')).AuditLog)
const Reports = lazyPart(async () => (await import('./reports.tsx')).Reports)
const ReportedReviews = lazyPart(async () => (await import('./reviews.tsx')).ReportedReviews)

const TABS = {
  versions: [t('Versions'), <Queue key="versions" />],
  failed: [t('Failed checks'), <Queue key="failed" isFailed />],
  reports: [t('Reports'), <Reports key="reports" />],
  reviews: [t('Reviews'), <ReportedReviews key="reviews" />],
  bans: [t('Bans'), <Bans key="bans" />],
  log: [t('Audit log'), <AuditLog key="log" />],
} as const

const ONE = { pageSize: 1 }
const SOMETIMES = { refetchInterval: 30_000 }
/** Queries of what waits for a decision, by tab: a page of one says how many there are. */
const WAITING = {
  versions: readQuery('/versions', { query: { ...FILTERS.review, ...ONE } }, SOMETIMES),
  failed: readQuery('/versions', { query: { ...FILTERS.failed, ...ONE } }, SOMETIMES),
  reports: readQuery('/admin/reports', { query: ONE }, SOMETIMES),
  reviews: readQuery('/admin/reviews', { query: { limit: 1 } }, SOMETIMES),
}

/** Decisions that wait, by tab; undefined until they are known. What cannot be counted has none. */
const useCounts = (): Readonly<Record<string, number>> | undefined => {
  const counts = {
    versions: useQuery(WAITING.versions),
    failed: useQuery(WAITING.failed),
    reports: useQuery(WAITING.reports),
    reviews: useQuery(WAITING.reviews),
  }
  const all = Object.entries(counts)
  if (all.some(([, { isPending }]) => isPending)) return undefined
  return Object.fromEntries(all.map(([tab, { data }]) => [tab, data?.total ?? 0]))
}

/** Page of all that platform admins decide on. */
export const Page = () => (
  <>
    <PageTitle>{t('Moderation')}</PageTitle>
    <Waiting />
  </>
)

/** Tabs with the number of what waits; the first where something does is open, unless the address is about versions. */
const Waiting = () => {
  const { tab, status, version } = route.useSearch()
  const counts = useCounts()
  // It stays while they decide, so that the last decision of a tab closes none.
  const [opens, setOpens] = useState<string | undefined>(
    (status ?? version) ? 'versions' : undefined,
  )
  if (opens === undefined && counts)
    setOpens(Object.keys(counts).find((one) => counts[one]) ?? 'versions')
  const tabs = Object.fromEntries(
    Object.entries(TABS).map(([id, [title, content]]) => {
      const count = counts?.[id] ?? 0
      return [id, [count > 0 ? `${title} (${count})` : title, content] as const]
    }),
  )
  if ((tab ?? opens) === undefined) return <Loading />
  return (
    <Suspense fallback={<Loading />}>
      <Tabs label={t('Moderation')} tabs={tabs} opens={opens} />
    </Suspense>
  )
}
