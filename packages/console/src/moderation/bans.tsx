import { useQuery, type UseQueryResult } from '@tanstack/react-query'

import { readQuery, send } from '../api/client.ts'
import { AskButton, type Values } from '../ui/ask.tsx'
import { Link, nodePage, publisherPage } from '../ui/link.tsx'
import { Columns, Panel } from '../ui/panels.tsx'
import { Listing } from '../ui/rows.tsx'
import { Bdi } from '../ui/values.tsx'

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
  ({ id = known, reason = '' }: Values): Promise<unknown> => {
    const path = { publisherId: id, nodeId: id }
    if (kind === 'publisher')
      return send('POST', `/admin/publishers/{publisherId}/${move}`, { path, body: { reason } })
    const body = { status: STATUS[move], status_detail: reason }
    return send('PUT', '/admin/nodes/{nodeId}', { path, body })
  }

/** Bans a node or a publisher; without an id it asks for one. */
export const BanButton = ({ kind, id }: { kind: Kind; id?: string }) => (
  <AskButton
    label={id === undefined ? `Ban a ${kind}` : `Ban the ${kind}`}
    variant="danger"
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

/** Banned publishers and nodes, with a way back. */
export const Bans = () => (
  <Columns>
    <BanList kind="publisher" query={useQuery(publishersQuery)} />
    <BanList
      kind="node"
      query={useQuery({
        ...nodesQuery,
        select: ({ nodes }) => nodes.filter((node) => 'publisher' in node),
      })}
    />
  </Columns>
)

type Banned = { id: string; name: string; status_detail?: string }
type BanListProps = { kind: Kind; query: UseQueryResult<readonly Banned[]> }

const BanList = ({ kind, query }: BanListProps) => (
  <Panel title={`Banned ${kind}s`} actions={<BanButton kind={kind} />}>
    <Listing
      label={`Banned ${kind}s`}
      query={query}
      empty={`No ${kind} is banned.`}
      columns={{
        Name: ({ id, name }) =>
          kind === 'node' ? (
            <Link {...nodePage(id)}>{name}</Link>
          ) : (
            <Link {...publisherPage(id)}>{name}</Link>
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
