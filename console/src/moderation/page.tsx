import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { GridList, GridListItem } from 'react-aria-components/GridList'

import type { paths } from '../../../client/index.ts'
import { nextPage, read } from '../api/client.ts'
import { AddressField, Select } from '../ui/fields.tsx'
import { countsInWords } from '../ui/findings.tsx'
import { Empty, PageTitle, Row, Show, Stack } from '../ui/panels.tsx'
import { NextPage } from '../ui/rows.tsx'
import { useChangeSearch } from '../ui/address.ts'
import { Tabs } from '../ui/tabs.tsx'
import { Badge, Bdi, StateBadge, Time } from '../ui/values.tsx'
import { counted } from '../words/text.ts'
import { AuditLog } from './audit-log.tsx'
import { Bans } from './bans.tsx'
import { Decide, keyOf, type Version } from './decide.tsx'
import { Detail } from './detail.tsx'
import styles from './moderation.module.css'

const route = getRouteApi('/moderation')

const CHOICES = {
  review: 'A review is asked for',
  Flagged: 'Held back',
  Pending: 'Being checked',
  Active: 'Live',
  Banned: 'Banned',
}

/** Versions to decide on, the oldest request first, with one of them beside the list; on a phone in its place. */
const Queue = ({ first }: { first: 'review' | 'failed' }) => {
  const { status, node, q, version } = route.useSearch()
  const changeSearch = useChangeSearch()
  const filter = first === 'review' && isFilter(status) ? status : first
  const list = useInfiniteQuery(
    versionsQuery({ filter, node, reason: filter === 'failed' ? undefined : q }),
  )
  const [chosen, setChosen] = useState<readonly string[]>([])
  const versions = list.data?.pages.flatMap((page) => page.versions) ?? []
  const many = versions.filter((one) => chosen.includes(keyOf(one)))
  return (
    <div className={`split ${styles.split}`} data-open={version !== undefined || undefined}>
      <Stack>
        {first === 'review' && (
          <>
            <Select
              label="Show"
              isLabelHidden
              options={CHOICES}
              value={filter as keyof typeof CHOICES}
              onChange={(next) => changeSearch({ status: next, version: undefined })}
            />
            <div className={`stack tight ${styles.filters}`}>
              <AddressField label="Node id" name="node" />
              <AddressField label="In the reason" />
            </div>
          </>
        )}
        <Show query={list}>
          {({ pages }) => (
            <>
              <p>{counted(pages[0]?.total ?? 0, 'version')}. Shift or Ctrl chooses several.</p>
              <GridList
                aria-label="Versions"
                className={styles.list}
                items={versions.map((one) => ({ ...one, key: keyOf(one) }))}
                selectionMode="multiple"
                selectionBehavior="replace"
                selectedKeys={chosen.length === 0 && version ? [version] : chosen}
                onSelectionChange={(keys) => {
                  const now = keys === 'all' ? versions.map(keyOf) : [...keys].map(String)
                  setChosen(now)
                  if (now.length === 1) changeSearch({ version: now[0] })
                }}
                onAction={(key) => changeSearch({ version: String(key) }, { replace: false })}
                renderEmptyState={() => (
                  <Empty>
                    {filter === 'review' ? 'Nobody waits for a review.' : 'There is none.'}
                  </Empty>
                )}
              >
                {(one) => <VersionItem version={one} />}
              </GridList>
              <NextPage query={list} />
            </>
          )}
        </Show>
      </Stack>
      <div>
        {many.length > 1 ? (
          <Stack>
            <h2>{counted(many.length, 'version')} chosen</h2>
            <Decide versions={many} />
          </Stack>
        ) : version === undefined ? (
          <Empty>Choose a version: its findings and changes are shown here.</Empty>
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

const VersionItem = ({ version }: { version: Version & { key: string } }) => {
  const { key, moderation, status, status_reason: reason, createdAt } = version
  const review = moderation?.review
  return (
    <GridListItem id={key} textValue={key} className={`stack small ${styles.item}`}>
      <Row>
        <Bdi as="strong">{key}</Bdi>
        <StateBadge state={status} />
        {moderation?.publisher.status === 'PublisherStatusBanned' && (
          <Badge tone="bad">publisher banned</Badge>
        )}
      </Row>
      <span>
        <Bdi>{moderation?.publisher.name}</Bdi>, {review ? 'asked' : 'published'}{' '}
        <Time at={review?.createdAt ?? createdAt} />
        {moderation && `; ${countsInWords(moderation.findings)}`}
      </span>
      <Bdi as="span" className="cut soft">
        {review?.note ?? reason}
      </Bdi>
    </GridListItem>
  )
}

type Query = NonNullable<paths['/versions']['get']['parameters']['query']>

/** What the list shows: what the API is asked for each. */
const FILTERS = {
  review: { sort: 'review' },
  Flagged: { statuses: ['NodeVersionStatusFlagged'] },
  failed: { statuses: ['NodeVersionStatusPending'], status_reason: 'checks could not run' },
  Pending: { statuses: ['NodeVersionStatusPending'] },
  Active: { statuses: ['NodeVersionStatusActive'] },
  Banned: { statuses: ['NodeVersionStatusBanned'] },
} satisfies Record<string, Query>
type Filter = keyof typeof FILTERS
const isFilter = (word: string | undefined): word is Filter => word !== undefined && word in FILTERS

interface Wanted {
  filter: Filter
  node: string | undefined
  reason: string | undefined
}

const versionsQuery = ({ filter, node, reason }: Wanted) =>
  infiniteQueryOptions({
    queryKey: ['moderation', filter, node, reason],
    initialPageParam: 1,
    queryFn: ({ pageParam: page, signal }) => {
      const more = { ...(node && { nodeId: node }), ...(reason && { status_reason: reason }) }
      return read(
        '/versions',
        { query: { page, pageSize: 50, ...FILTERS[filter], ...more } },
        signal,
      )
    },
    getNextPageParam: nextPage,
    maxPages: 40,
    refetchInterval: 15_000,
  })

const TABS = {
  versions: ['Versions', <Queue key="versions" first="review" />],
  failed: ['Failed checks', <Queue key="failed" first="failed" />],
  bans: ['Bans', <Bans key="bans" />],
  log: ['Audit log', <AuditLog key="log" />],
} as const

/** What platform admins decide on. */
export const Page = () => (
  <>
    <PageTitle>Moderation</PageTitle>
    <Tabs label="Moderation" tabs={TABS} />
  </>
)
