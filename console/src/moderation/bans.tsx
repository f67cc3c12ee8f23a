import { useInfiniteQuery, useQuery, type UseQueryResult } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'

import { nextPage, read, readQuery, send, type Write } from '../api/client.ts'
import { AskButton, type Values } from '../ui/ask.tsx'
import { SearchField } from '../ui/fields.tsx'
import { Link } from '../ui/link.tsx'
import { Columns, Panel, Stack } from '../ui/panels.tsx'
import { Listing } from '../ui/rows.tsx'
import { useChangeSearch } from '../ui/tabs.tsx'
import { Bdi, Time } from '../ui/values.tsx'

type Kind = 'node' | 'publisher'

const HELP = {
  node: 'Nobody finds, installs or downloads any of its versions. Its publisher reads the reason.',
  publisher:
    'All its nodes are hidden, and its members publish nothing. The reason stands in the audit log.',
}
const REASON = { name: 'reason', label: 'Reason', rows: 3 }

const STATUS = { ban: 'NodeStatusBanned', unban: 'NodeStatusActive' } as const

/** Bans a node or a publisher, or lifts its ban; without an id it is that of the form. */
const write =
  (move: 'ban' | 'unban', kind: Kind, known = '') =>
  ({ id = known, reason = '' }: Values): Write<unknown> =>
    kind === 'publisher'
      ? send('POST', `/admin/publishers/{publisherId}/${move}`, {
          path: { publisherId: id },
          body: { reason },
        })
      : send('PUT', '/admin/nodes/{nodeId}', {
          path: { nodeId: id },
          body: { status: STATUS[move], status_detail: reason },
        })

/** Bans a node or a publisher; without an id it asks for one. */
export const BanButton = ({ kind, id }: { kind: Kind; id?: string }) => (
  <AskButton
    label={id === undefined ? `Ban a ${kind}` : `Ban the ${kind}`}
    look="danger"
    title={`Ban ${id ?? `a ${kind}`}${id === undefined ? '' : '?'}`}
    action={`Ban ${kind}`}
    typed={id}
    fields={[
      ...(id === undefined ? [{ name: 'id', label: `Id of the ${kind}` }] : []),
      { ...REASON, help: HELP[kind] },
    ]}
    write={write('ban', kind, id)}
  />
)

const publishersQuery = readQuery('/publishers', {
  query: { limit: 1000, status: 'PublisherStatusBanned' },
})
const nodesQuery = readQuery('/nodes', { query: { limit: 1000, status: 'NodeStatusBanned' } })

/** What is banned, with a way back. */
export const Bans = () => (
  <Columns>
    <BanList kind="publisher" query={useQuery(publishersQuery)} />
    <BanList kind="node" query={useQuery({ ...nodesQuery, select: ({ nodes }) => nodes })} />
  </Columns>
)

interface BanListProps {
  kind: Kind
  query: UseQueryResult<readonly { id: string; name: string; status_detail?: string }[]>
}

const BanList = ({ kind, query: banned }: BanListProps) => (
  <Panel title={`Banned ${kind}s`} actions={<BanButton kind={kind} />}>
    <Listing
      label={`Banned ${kind}s`}
      query={banned}
      empty={`No ${kind} is banned.`}
      columns={{
        Name: ({ id, name }) => (
          <Link
            to={kind === 'node' ? '/registry/$node' : '/publishers/$publisher'}
            params={{ node: id, publisher: id }}
          >
            <Bdi>{name}</Bdi>
          </Link>
        ),
        Reason: ({ status_detail: reason = 'in the audit log' }) => <Bdi>{reason}</Bdi>,
        '': ({ id }) => (
          <AskButton
            label="Lift ban"
            title={`Lift the ban of ${id}?`}
            fields={[REASON]}
            write={write('unban', kind, id)}
          />
        ),
      }}
    />
  </Panel>
)

const route = getRouteApi('/moderation')

/** What platform admins have changed, the newest first. */
export const AuditLog = () => {
  const { q } = route.useSearch()
  const changeSearch = useChangeSearch()
  const log = useInfiniteQuery({
    queryKey: ['audit-log', q],
    initialPageParam: 1,
    queryFn: ({ pageParam: page, signal }) =>
      read('/admin/audit-log', { query: { page, pageSize: 50, ...(q && { target: q }) } }, signal),
    getNextPageParam: nextPage,
    select: ({ pages }) => pages.flatMap(({ entries }) => entries),
  })
  return (
    <Stack>
      <SearchField
        label="Target"
        placeholder="version/node@1.0.0, node/…, publisher/…, task/…"
        value={q}
        onChange={(text) => changeSearch({ q: text })}
      />
      <Listing
        label="Audit log"
        query={log}
        empty={`No admin has changed anything${q ? ' of that name' : ''}.`}
        columns={{
          What: ({ action, target }) => (
            <>
              {action} <Bdi>{target}</Bdi>
            </>
          ),
          'When and who': ({ at, actor }) => (
            <>
              <Time at={at} /> by <Bdi>{actor}</Bdi>
            </>
          ),
          Change: ({ reason, before, after }) => (
            <>
              {reason && <Bdi as="p">{reason}</Bdi>}
              <Bdi as="code">{describeChange(before ?? {}, after ?? {})}</Bdi>
            </>
          ),
        }}
      />
    </Stack>
  )
}

type Members = Readonly<Record<string, unknown>>

/** `status: "a" → "b"`, a member each. */
const describeChange = (before: Members, after: Members): string =>
  Object.keys({ ...before, ...after })
    .map((name) => `${name}: ${JSON.stringify(before[name])} → ${JSON.stringify(after[name])}`)
    .join(', ')
