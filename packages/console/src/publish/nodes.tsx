import { useMutation, useQuery } from '@tanstack/react-query'

import { read, readQuery, send, type Schema } from '../api/client.ts'
import { ManageNode } from '../manage/node.tsx'
import { ManageVersion } from '../manage/version.tsx'
import { iconOf } from '../registry/queries.ts'
import { AskButton } from '../ui/ask.tsx'
import { Button } from '../ui/button.tsx'
import { Link, nodePage, publishPage, versionPage } from '../ui/link.tsx'
import { Row, Stack } from '../ui/panels.tsx'
import { Listing } from '../ui/rows.tsx'
import { Badge, Bdi, Picture, StateBadge, Tile } from '../ui/values.tsx'
import { showNumber } from '../words/language.ts'
import { t } from '../words/translate.ts'
import { mayAs, nodesQuery, type OfPublisher } from './queries.ts'

/** The packs of a publisher; members see which versions need them, and manage them here. */
export const Nodes = ({ id, role }: OfPublisher) => {
  const isMember = mayAs(role, 'member')
  const columns = isMember
    ? {
        ...COLUMNS,
        [t('Needs attention')]: (node: Node) => <Attention node={node} publisherId={id} />,
        '': manage,
      }
    : COLUMNS
  return (
    <Stack>
      {isMember && <ReserveId publisherId={id} />}
      <Listing
        label={t('Packs')}
        query={useQuery(nodesQuery(id))}
        empty={t('No packs yet')}
        columns={columns}
      />
    </Stack>
  )
}

type Node = Schema<'Node'>

const COLUMNS = {
  [t('Pack')]: (node: Node) => (
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
  [t('Latest')]: ({ id, latest_version: latest }: Node) =>
    latest ? (
      <Row>
        <Link {...versionPage(id, latest.version)}>{latest.version}</Link>
        {latest.deprecated && <Badge tone="warn">{t('deprecated')}</Badge>}
        <ManageVersion version={latest} />
      </Row>
    ) : (
      t('None')
    ),
  [t('Downloads')]: ({ downloads }: Node) => showNumber(downloads),
}

const manage = (node: Node) => (
  <Row>
    <ManageNode node={node} />
  </Row>
)

const Attention = ({ node, publisherId }: { node: Node; publisherId: string }) => (
  <>
    <Flagged nodeId={node.id} publisherId={publisherId} />
    <Picture src={iconOf(node)} hidden other={node.icon && <IconIssue nodeId={node.id} />} />
  </>
)

const ID_HELP = t('Letters, digits, “.”, “_” and “-”. Used as the name in pyproject.toml.')

/** Creates a pack without a version, so that nobody else takes its id. */
const ReserveId = ({ publisherId }: { publisherId: string }) => (
  <AskButton
    label={t('Reserve a pack ID')}
    action={t('Reserve ID')}
    fields={[
      { name: 'id', label: t('ID'), help: ID_HELP },
      { name: 'name', label: t('Name'), isOptional: true },
      { name: 'description', label: t('Description'), rows: 3, isOptional: true },
    ]}
    write={({ id = '', ...given }) => {
      const body = { id: id.trim(), ...given }
      return send('POST', '/publishers/{publisherId}/nodes', { path: { publisherId }, body })
    }}
  >
    <p>{t('Creates an empty pack. It shows up for installs once a version is published.')}</p>
  </AskButton>
)

/** An icon that does not load, and at a press why: the response is an error, which browsers report. */
const IconIssue = ({ nodeId }: { nodeId: string }) => {
  const why = useMutation({ mutationFn: () => read('/nodes/{nodeId}/icon', { path: { nodeId } }) })
  return (
    <span className="soft small">
      {why.error?.message ?? t('The icon can’t be shown.')}{' '}
      {!why.error && <Button onPress={() => why.mutate()}>{t('Why?')}</Button>}
    </span>
  )
}

const FLAGGED: Schema<'NodeVersionStatus'>[] = [
  'NodeVersionStatusPending',
  'NodeVersionStatusFlagged',
  'NodeVersionStatusBanned',
]

/** Versions that are not published, or not yet. */
const Flagged = ({ nodeId, publisherId }: { nodeId: string; publisherId: string }) => {
  const { data: flagged = [] } = useQuery(
    readQuery('/nodes/{nodeId}/versions', { path: { nodeId }, query: { statuses: FLAGGED } }),
  )
  return flagged.slice(0, 5).map((version) => (
    <Row key={version.version}>
      <Link {...publishPage(publisherId)} search={{ node: nodeId, version: version.version }}>
        {version.version} <StateBadge state={version.status} />
      </Link>
      <ManageVersion version={version} />
    </Row>
  ))
}
