import { useQuery } from '@tanstack/react-query'

import { readQuery, send, sendRequest, type Schema } from '../api/client.ts'
import { AskButton } from '../ui/ask.tsx'
import { Link, LinkButton, nodePage, publishPage } from '../ui/link.tsx'
import { Row } from '../ui/panels.tsx'
import { Listing } from '../ui/rows.tsx'
import { StateBadge, Tile } from '../ui/values.tsx'
import { mayAs, nodesQuery, type OfPublisher } from './queries.ts'

const NODE = '/publishers/{publisherId}/nodes/{nodeId}'

/** The nodes of a publisher, with the versions that installs do not get. */
export const Nodes = ({ id, role }: OfPublisher) => {
  const isMember = mayAs(role, 'member')
  return (
    <Listing
      label="Nodes"
      query={useQuery(nodesQuery(id))}
      empty={
        <>
          <p>No node is published yet.</p>
          {isMember && <p>“Publish a node” takes its folder or a zip, and checks it here first.</p>}
        </>
      }
      columns={{
        Node: ({ id: nodeId, name, status, icon }) => (
          <Row>
            <Tile src={`/nodes/${encodeURIComponent(nodeId)}/icon`} name={name} size={32} />
            <Link {...nodePage(nodeId)}>{name}</Link>
            {status !== 'NodeStatusActive' && <StateBadge state={status} />}
            {isMember && icon !== undefined && <IconIssue nodeId={nodeId} icon={icon} />}
          </Row>
        ),
        'Installs get': ({ latest_version: latest }) => latest?.version ?? 'nothing yet',
        Others: (node) => isMember && <Held nodeId={node.id} publisherId={id} />,
        Downloads: ({ downloads }) => downloads.toLocaleString('en'),
        '': ({ id: nodeId }) => (
          <Row>
            {isMember && <LinkButton {...publishPage(id)}>Publish a version</LinkButton>}
            {mayAs(role, 'owner') && (
              <AskButton
                label="Delete"
                variant="danger"
                title={`Delete ${nodeId}?`}
                action="Delete node"
                typed={nodeId}
                write={() => send('DELETE', NODE, { path: { publisherId: id, nodeId } })}
              >
                <p>
                  Nobody finds or installs it any more, and its id stays taken: no other node can
                  have it.
                </p>
              </AskButton>
            )}
          </Row>
        ),
      }}
    />
  )
}

/** Why the icon that a node names is not shown. */
const IconIssue = ({ nodeId, icon }: { nodeId: string; icon: string }) => {
  const { data: issue } = useQuery({
    queryKey: ['icon-issue', nodeId, icon],
    queryFn: async ({ signal }) => {
      const path = `/nodes/${encodeURIComponent(nodeId)}/icon`
      const response = await sendRequest(new Request(location.origin + path), { signal })
      if (response.status !== 404) return null
      return ((await response.json()) as Schema<'Error'>).message
    },
    staleTime: 60_000,
  })
  return issue ? <span className="soft small">{issue}</span> : null
}

const HELD: Schema<'NodeVersionStatus'>[] = [
  'NodeVersionStatusPending',
  'NodeVersionStatusFlagged',
  'NodeVersionStatusBanned',
]

/** Versions that installs do not get, or not yet. */
const Held = ({ nodeId, publisherId }: { nodeId: string; publisherId: string }) => {
  const { data: held = [] } = useQuery(
    readQuery('/nodes/{nodeId}/versions', { path: { nodeId }, query: { statuses: HELD } }),
  )
  if (held.length === 0) return null
  return (
    <Row>
      {held.slice(0, 5).map(({ version, status }) => (
        <Link key={version} {...publishPage(publisherId)} search={{ node: nodeId, version }}>
          {version} <StateBadge state={status} />
        </Link>
      ))}
    </Row>
  )
}
