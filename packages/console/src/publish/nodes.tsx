import { useQuery } from '@tanstack/react-query'

import { readQuery, send, sendRequest, type Schema } from '../api/client.ts'
import { ManageNode } from '../manage/node.tsx'
import { ManageVersion } from '../manage/version.tsx'
import { iconOf } from '../registry/queries.ts'
import { AskButton } from '../ui/ask.tsx'
import { Link, nodePage, publishPage, versionPage } from '../ui/link.tsx'
import { Row, Stack } from '../ui/panels.tsx'
import { Listing } from '../ui/rows.tsx'
import { Badge, Bdi, StateBadge, Tile } from '../ui/values.tsx'
import { mayAs, nodesQuery, type OfPublisher } from './queries.ts'

/** The packs of a publisher; members see which versions need them, and manage them here. */
export const Nodes = ({ id, role }: OfPublisher) => {
  const isMember = mayAs(role, 'member')
  const { 'Needs attention': attention, '': manage, ...publicColumns } = COLUMNS
  const columns = isMember
    ? { ...publicColumns, 'Needs attention': attention(id), '': manage }
    : publicColumns
  return (
    <Stack>
      {isMember && <ReserveId publisherId={id} />}
      <Listing
        label="Packs"
        query={useQuery(nodesQuery(id))}
        empty="No packs yet"
        columns={columns}
      />
    </Stack>
  )
}

type Node = Schema<'Node'>

const COLUMNS = {
  Pack: (node: Node) => (
    <Row>
      <Tile src={iconOf(node)} name={node.name} size={32} />
      <div>
        <Link {...nodePage(node.id)}>{node.name}</Link>{' '}
        {node.status !== 'NodeStatusActive' && <StateBadge state={node.status} />}
        <Bdi as="p" className="soft small clamp">
          {node.description}
        </Bdi>
      </div>
    </Row>
  ),
  Latest: ({ id, latest_version: latest }: Node) =>
    latest ? (
      <Row>
        <Link {...versionPage(id, latest.version)}>{latest.version}</Link>
        {latest.deprecated && <Badge tone="warn">deprecated</Badge>}
        <ManageVersion version={latest} />
      </Row>
    ) : (
      'None'
    ),
  Downloads: ({ downloads }: Node) => downloads.toLocaleString('en'),
  'Needs attention': (publisherId: string) => (node: Node) => (
    <>
      <Held nodeId={node.id} publisherId={publisherId} />
      {node.icon !== undefined && <IconIssue nodeId={node.id} icon={node.icon} />}
    </>
  ),
  '': (node: Node) => (
    <Row>
      <ManageNode node={node} />
    </Row>
  ),
}

const ID_HELP = 'Letters, digits, “.”, “_” and “-”. Used as the name in pyproject.toml.'

/** Creates a pack without a version, so that nobody else takes its id. */
const ReserveId = ({ publisherId }: { publisherId: string }) => (
  <AskButton
    label="Reserve a pack ID"
    action="Reserve ID"
    fields={[
      { name: 'id', label: 'ID', help: ID_HELP },
      { name: 'name', label: 'Name', isOptional: true },
      { name: 'description', label: 'Description', rows: 3, isOptional: true },
    ]}
    write={({ id = '', ...given }) => {
      const body = { id: id.trim(), ...given }
      return send('POST', '/publishers/{publisherId}/nodes', { path: { publisherId }, body })
    }}
  >
    <p>Creates an empty pack. It shows up for installs once a version is published.</p>
  </AskButton>
)

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

/** Versions that are not published, or not yet. */
const Held = ({ nodeId, publisherId }: { nodeId: string; publisherId: string }) => {
  const { data: held = [] } = useQuery(
    readQuery('/nodes/{nodeId}/versions', { path: { nodeId }, query: { statuses: HELD } }),
  )
  return held.slice(0, 5).map((version) => (
    <Row key={version.version}>
      <Link {...publishPage(publisherId)} search={{ node: nodeId, version: version.version }}>
        {version.version} <StateBadge state={version.status} />
      </Link>
      <ManageVersion version={version} />
    </Row>
  ))
}
