import { useQuery } from '@tanstack/react-query'

import { answerOf, api } from '../api/client.ts'
import { AskButton } from '../ui/ask.tsx'
import { Link } from '../ui/link.tsx'
import { Table } from '../ui/list.tsx'
import { Columns, Row } from '../ui/page.tsx'
import { Empty, Panel, Show } from '../ui/panels.tsx'
import { Bdi } from '../ui/text.tsx'
import { BANS_KEY, VERSIONS_KEY } from './queries.ts'

type Kind = 'node' | 'publisher'

const HELP = {
  node: 'Nobody finds, installs or downloads any of its versions. Its publisher reads the reason.',
  publisher:
    'All its nodes are hidden, and its members publish nothing. The reason stands in the audit log.',
}

/** Bans a node or a publisher, or lifts its ban. */
const move = async (
  { kind, id, isBan }: { kind: Kind; id: string; isBan: boolean },
  reason: string,
  headers: { 'idempotency-key': string },
): Promise<void> => {
  const publisher = { params: { path: { publisherId: id } }, body: { reason }, headers }
  if (kind === 'node')
    await api.PUT('/admin/nodes/{nodeId}', {
      params: { path: { nodeId: id } },
      body: { status: isBan ? 'NodeStatusBanned' : 'NodeStatusActive', status_detail: reason },
    })
  else if (isBan) await api.POST('/admin/publishers/{publisherId}/ban', publisher)
  else await api.POST('/admin/publishers/{publisherId}/unban', publisher)
}

const reasonField = { name: 'reason', label: 'Reason', rows: 3 }
const refresh = [BANS_KEY, VERSIONS_KEY, ['version']]

/** Bans a node or a publisher; without an id it asks for one. */
export const BanButton = ({ kind, id }: { kind: Kind; id?: string }) => (
  <AskButton
    label={id === undefined ? `Ban a ${kind}` : `Ban the ${kind}`}
    look="danger"
    title={id === undefined ? `Ban a ${kind}` : `Ban ${id}?`}
    action={`Ban ${kind}`}
    typed={id}
    fields={[
      ...(id === undefined ? [{ name: 'id', label: `Id of the ${kind}` }] : []),
      { ...reasonField, help: HELP[kind] },
    ]}
    write={({ id: given = '', reason = '' }, headers) =>
      move({ kind, id: id ?? given, isBan: true }, reason, headers)
    }
    refresh={refresh}
  />
)

/** What is banned, with a way back. */
export const Bans = () => (
  <Columns>
    <BanList kind="publisher" />
    <BanList kind="node" />
  </Columns>
)

const listBanned = async (kind: Kind, signal: AbortSignal) => {
  if (kind === 'publisher')
    return (
      await answerOf(
        api.GET('/publishers', {
          params: { query: { status: 'PublisherStatusBanned', limit: 1000 } },
          signal,
        }),
      )
    ).map(({ id, name }) => ({ id, name, reason: undefined }))
  const { nodes } = await answerOf(
    api.GET('/nodes', {
      params: { query: { status: 'NodeStatusBanned', limit: 1000 } },
      signal,
    }),
  )
  return nodes.map(({ id, name, status_detail: reason }) => ({ id, name, reason }))
}

const BanList = ({ kind }: { kind: Kind }) => {
  const banned = useQuery({
    queryKey: [...BANS_KEY, kind],
    queryFn: ({ signal }) => listBanned(kind, signal),
  })
  return (
    <Panel title={`Banned ${kind}s`} actions={<BanButton kind={kind} />}>
      <Show query={banned}>
        {(list) =>
          list.length === 0 ? (
            <Empty>No {kind} is banned.</Empty>
          ) : (
            <Table label={`Banned ${kind}s`} columns={['Name', 'Reason', '']}>
              {list.map(({ id, name, reason }) => (
                <tr key={id}>
                  <td>
                    {kind === 'node' ? (
                      <Link to="/registry/$node" params={{ node: id }}>
                        <Bdi>{name}</Bdi>
                      </Link>
                    ) : (
                      <Link to="/publishers/$publisher" params={{ publisher: id }}>
                        <Bdi>{name}</Bdi>
                      </Link>
                    )}
                  </td>
                  <td>
                    <Bdi>{reason ?? 'in the audit log'}</Bdi>
                  </td>
                  <td>
                    <Row>
                      <AskButton
                        label="Lift ban"
                        title={`Lift the ban of ${id}?`}
                        action="Lift ban"
                        fields={[reasonField]}
                        write={({ reason: why = '' }, headers) =>
                          move({ kind, id, isBan: false }, why, headers)
                        }
                        refresh={refresh}
                      />
                    </Row>
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Show>
    </Panel>
  )
}
