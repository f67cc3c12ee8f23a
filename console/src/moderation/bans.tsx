import { useQuery } from '@tanstack/react-query'
import type { UseQueryResult } from '@tanstack/react-query'

import { readQuery } from '../api/read.ts'
import { send } from '../api/send.ts'
import { AskButton } from '../ui/ask.tsx'
import type { AskProps } from '../ui/ask.tsx'
import { Link } from '../ui/link.tsx'
import { Columns } from '../ui/page.tsx'
import { Panel } from '../ui/panels.tsx'
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
  (move: 'ban' | 'unban', kind: Kind, known?: string): AskProps<unknown>['write'] =>
  ({ id = known ?? '', reason = '' }, headers) => {
    if (kind === 'publisher') {
      const given = { path: { publisherId: id }, body: { reason }, headers }
      return send('POST', `/admin/publishers/{publisherId}/${move}`, given)
    }
    const body = { status: STATUS[move], status_detail: reason }
    return send('PUT', '/admin/nodes/{nodeId}', { path: { nodeId: id }, body })
  }

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

const query = { limit: 1000 }
const publishersQuery = readQuery(['bans', 'publishers'], '/publishers', {
  query: { ...query, status: 'PublisherStatusBanned' },
})
const nodesQuery = readQuery(['bans', 'nodes'], '/nodes', {
  query: { ...query, status: 'NodeStatusBanned' },
})

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
            action="Lift ban"
            fields={[REASON]}
            write={write('unban', kind, id)}
          />
        ),
      }}
    />
  </Panel>
)
