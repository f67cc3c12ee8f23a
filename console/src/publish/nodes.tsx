import { useQuery } from '@tanstack/react-query'

import { api } from '../api/client.ts'
import type { Schema } from '../api/client.ts'
import { AskButton } from '../ui/ask.tsx'
import { StateBadge } from '../ui/badge.tsx'
import { Link, LinkButton } from '../ui/link.tsx'
import { Table } from '../ui/list.tsx'
import { Row } from '../ui/page.tsx'
import { Empty, Show } from '../ui/panels.tsx'
import { Tile } from '../ui/picture.tsx'
import { Bdi } from '../ui/text.tsx'
import type { OfPublisher } from './publisher.tsx'
import { heldVersionsQuery, mayAs, nodesQuery, publisherKey } from './queries.ts'

/** The nodes of a publisher, with the versions that installs do not get. */
export const Nodes = ({ id, role }: OfPublisher) => {
  const nodes = useQuery(nodesQuery(id))
  return (
    <Show query={nodes}>
      {(list) =>
        list.length === 0 ? (
          <Empty>
            <p>No node is published yet.</p>
            {mayAs(role, 'member') && (
              <p>“Publish a node” takes its folder or a zip, and checks it here first.</p>
            )}
          </Empty>
        ) : (
          <Table label="Nodes" columns={['Node', 'Installs get', 'Others', 'Downloads', '']}>
            {list.map((node) => (
              <NodeRow key={node.id} node={node} publisher={{ id, role }} />
            ))}
          </Table>
        )
      }
    </Show>
  )
}

const NodeRow = ({ node, publisher }: { node: Schema<'Node'>; publisher: OfPublisher }) => {
  const { id, role } = publisher
  const isMember = mayAs(role, 'member')
  const held = useQuery({ ...heldVersionsQuery(node.id), enabled: isMember })
  return (
    <tr>
      <td>
        <Row>
          <Tile src={`/nodes/${encodeURIComponent(node.id)}/icon`} name={node.name} size={32} />
          <Link to="/registry/$node" params={{ node: node.id }}>
            <Bdi>{node.name}</Bdi>
          </Link>
          {node.status !== 'NodeStatusActive' && <StateBadge state={node.status} />}
        </Row>
      </td>
      <td>{node.latest_version?.version ?? 'nothing yet'}</td>
      <td>
        <Row>
          {held.data?.slice(0, 5).map(({ version, status }) => (
            <Link
              key={version}
              to="/publishers/$publisher/publish"
              params={{ publisher: id }}
              search={{ node: node.id, version }}
            >
              {version} <StateBadge state={status} />
            </Link>
          ))}
        </Row>
      </td>
      <td>{node.downloads.toLocaleString('en')}</td>
      <td>
        <Row>
          {isMember && (
            <LinkButton to="/publishers/$publisher/publish" params={{ publisher: id }}>
              Publish a version
            </LinkButton>
          )}
          {mayAs(role, 'owner') && (
            <AskButton
              label="Delete"
              look="danger"
              title={`Delete ${node.id}?`}
              action="Delete node"
              typed={node.id}
              write={() =>
                api.DELETE('/publishers/{publisherId}/nodes/{nodeId}', {
                  params: { path: { publisherId: id, nodeId: node.id } },
                })
              }
              refresh={[publisherKey(id, 'nodes')]}
            >
              <p>
                Nobody finds or installs it any more, and its id stays taken: no other node can have
                it.
              </p>
            </AskButton>
          )}
        </Row>
      </td>
    </tr>
  )
}
