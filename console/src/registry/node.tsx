import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'

import { serviceQuery } from '../api/queries.ts'
import { Badge, StateBadge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Code } from '../ui/code.tsx'
import { Link, LinkButton, StrangersLink } from '../ui/link.tsx'
import { PageTitle, Row, Stack } from '../ui/page.tsx'
import { Empty, Fact, Facts, Note, Panel, Show } from '../ui/panels.tsx'
import { Tile } from '../ui/picture.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { findingsQuery } from '../ui/findings.tsx'
import { Bdi } from '../ui/text.tsx'
import { Time } from '../ui/values.tsx'
import { counted } from '../words/text.ts'
import { HostNodes } from './host-nodes.tsx'
import { LongText, Provenance, Words } from './parts.tsx'
import { nodeQuery, versionsQuery } from './queries.ts'
import type { Node, Version } from './queries.ts'
import styles from './registry.module.css'
import { iconOf } from './search.tsx'
import { explainInstalls, readLicense, writeInstall } from './standing.ts'
import { Verdict } from './verdict.tsx'

const route = getRouteApi('/registry/$node')

export const NodePage = () => {
  const { node: nodeId } = route.useParams()
  const node = useQuery(nodeQuery(nodeId))
  return (
    <>
      <PageTitle
        extra={
          <>
            {node.data && node.data.status !== 'NodeStatusActive' && (
              <StateBadge state={node.data.status} />
            )}
          </>
        }
      >
        {node.data?.name ?? nodeId}
      </PageTitle>
      <Show query={node}>{(data) => <NodeView node={data} />}</Show>
    </>
  )
}

const TABS = ['versions', 'host-nodes', 'about'] as const
type Tab = (typeof TABS)[number]

const NodeView = ({ node }: { node: Node }) => {
  const { tab = 'versions' } = route.useSearch()
  const navigate = route.useNavigate()
  const versions = useQuery(versionsQuery(node.id))
  const latest = node.latest_version
  return (
    <Stack>
      <div className={styles.intro}>
        <Tile src={iconOf(node)} name={node.name} size={64} />
        <div className={styles.about}>
          <p className={styles.soft}>
            <Bdi>{node.publisher.name}</Bdi> · <Bdi>{node.id}</Bdi> ·{' '}
            {counted(node.downloads, 'download')}
            {node.github_stars > 0 && ` · ${counted(node.github_stars, 'star')}`}
          </p>
          <LongText text={node.description} />
          <Links node={node} />
        </div>
      </div>
      {node.status_detail && (
        <Note tone="bad">
          <Bdi>{node.status_detail}</Bdi>
        </Note>
      )}
      {versions.data && <Standing versions={versions.data} latest={latest} />}
      <div className={styles.split}>
        <Tabs<Tab>
          label="About the node"
          selected={TABS.find((one) => one === tab) ?? 'versions'}
          onSelect={(next) =>
            void navigate({
              search: next === 'versions' ? {} : { tab: next },
              resetScroll: false,
              replace: true,
            })
          }
          tabs={[
            {
              id: 'versions',
              title: versions.data ? counted(versions.data.length, 'version') : 'Versions',
              content: (
                <Show query={versions}>{(all) => <Versions node={node} versions={all} />}</Show>
              ),
            },
            {
              id: 'host-nodes',
              title: latest?.host_nodes
                ? counted(latest.host_nodes.count, 'host node')
                : 'Host nodes',
              content: latest ? (
                <HostNodes version={latest} />
              ) : (
                <Empty>Host nodes are here once a version is live.</Empty>
              ),
            },
            { id: 'about', title: 'Details', content: <Details node={node} /> },
          ]}
        />
        {latest && <Install version={latest} versions={versions.data ?? []} />}
      </div>
    </Stack>
  )
}

const Links = ({ node }: { node: Node }) => (
  <Row>
    {node.repository && (
      <StrangersLink address={node.repository}>
        {URL.canParse(node.repository) ? 'Repository' : undefined}
      </StrangersLink>
    )}
    {node.publisher.website && (
      <StrangersLink address={node.publisher.website}>Website</StrangersLink>
    )}
    {node.publisher.support && (
      <StrangersLink address={node.publisher.support}>Support</StrangersLink>
    )}
  </Row>
)

/** What installs get, when that is not the newest. */
const Standing = ({ versions, latest }: { versions: Version[]; latest: Version | undefined }) => {
  const [newest] = versions
  const isHeld = newest?.status === 'NodeVersionStatusFlagged'
  const { data } = useQuery({
    ...findingsQuery(newest?.node_id ?? '', newest?.version ?? ''),
    enabled: isHeld,
  })
  const words = explainInstalls(newest, latest, data?.counts.high)
  if (words === undefined) return null
  return (
    <Note tone={newest && newest.status !== 'NodeVersionStatusActive' ? 'warn' : 'info'}>
      <p>{words}</p>
      {newest && (
        <Link
          to="/registry/$node/$version"
          params={{ node: newest.node_id, version: newest.version }}
          search={isHeld ? { tab: 'findings' } : {}}
        >
          {isHeld ? 'See what was found' : `See ${newest.version}`}
        </Link>
      )}
    </Note>
  )
}

const Install = ({ version, versions }: { version: Version; versions: Version[] }) => {
  const { data: service } = useQuery(serviceQuery)
  const before = previousOf(versions, version)
  return (
    <Panel title={`Install ${version.version}`}>
      {service?.install ? (
        <Code text={writeInstall(service.install, version)} label="install command" />
      ) : (
        version.downloadUrl && <Code text={version.downloadUrl} label="address of the archive" />
      )}
      {before && (
        <p className={styles.line}>
          From {before.version}:
          <Verdict nodeId={version.node_id} range={{ from: before.version, to: version.version }} />
        </p>
      )}
    </Panel>
  )
}

/** The one published before it, for which workflows were saved. */
export const previousOf = (versions: readonly Version[], version: Version): Version | undefined =>
  versions
    .slice(versions.findIndex(({ id }) => id === version.id) + 1)
    .find(({ status }) => status === 'NodeVersionStatusActive')

const STEP = 10

const Versions = ({ node, versions }: { node: Node; versions: Version[] }) => {
  const [most, setMost] = useState(STEP)
  if (versions.length === 0) return <Empty>No version has been published yet.</Empty>
  return (
    <Stack>
      <ul className={styles.versions} aria-label="Versions">
        {versions.slice(0, most).map((version) => (
          <VersionRow
            key={version.id}
            version={version}
            before={previousOf(versions, version)}
            isLatest={version.id === node.latest_version?.id}
          />
        ))}
      </ul>
      {versions.length > most && (
        <Button onPress={() => setMost(most + STEP)}>
          Show {Math.min(STEP, versions.length - most)} more of {versions.length}
        </Button>
      )}
    </Stack>
  )
}

const VersionRow = ({
  version,
  before,
  isLatest,
}: {
  version: Version
  before: Version | undefined
  isLatest: boolean
}) => {
  const { node_id: nodeId, version: number, status, changelog, provenance } = version
  const { data: found } = useQuery(findingsQuery(nodeId, number))
  const isLive = status === 'NodeVersionStatusActive'
  return (
    <li className={styles.version}>
      <div className={styles.line}>
        <Link
          to="/registry/$node/$version"
          params={{ node: nodeId, version: number }}
          className={styles.number}
        >
          {number}
        </Link>
        <StateBadge state={status} />
        {isLatest && <Badge tone="info">what installs get</Badge>}
        {version.deprecated && <Badge tone="warn">deprecated</Badge>}
        <span className={styles.soft}>
          <Time at={version.createdAt} />
          {version.host_nodes && ` · ${counted(version.host_nodes.count, 'host node')}`}
        </span>
      </div>
      {!isLive && version.status_reason && (
        <p>
          <Bdi>{version.status_reason}</Bdi>
        </p>
      )}
      {changelog && <LongText text={changelog} />}
      <div className={styles.line}>
        {before && isRead(version) && isRead(before) && (
          <>
            <span className={styles.soft}>from {before.version}:</span>
            <Verdict nodeId={nodeId} range={{ from: before.version, to: number }} />
          </>
        )}
        {found && found.counts.high + found.counts.medium > 0 && (
          <Link
            to="/registry/$node/$version"
            params={{ node: nodeId, version: number }}
            search={{ tab: 'findings' }}
          >
            {counted(found.counts.high + found.counts.medium, 'finding')}
          </Link>
        )}
        {provenance && <Provenance provenance={provenance} />}
      </div>
    </li>
  )
}

const isRead = (version: Version): boolean => version.host_node_extract_status === 'success'

const Details = ({ node }: { node: Node }) => (
  <Stack>
    <Facts>
      <Fact name="Id">
        <Bdi>{node.id}</Bdi>
      </Fact>
      {node.author && (
        <Fact name="Author">
          <Bdi>{node.author}</Bdi>
        </Fact>
      )}
      {node.repository && (
        <Fact name="Repository">
          <StrangersLink address={node.repository} />
        </Fact>
      )}
      {node.license && (
        <Fact name="License">
          <LongText text={readLicense(node.license)} />
        </Fact>
      )}
      <Words name="Tags" words={[...node.tags, ...node.tags_admin]} />
      <Words name="Systems" words={node.supported_os} />
      <Words name="Accelerators" words={node.supported_accelerators} />
      <Words name="Host" words={[node.supported_host_version ?? '']} />
      <Words name="Frontend" words={[node.supported_host_frontend_version ?? '']} />
    </Facts>
    <LinkButton to="/registry" search={{ q: node.publisher.name }}>
      Find more by this publisher
    </LinkButton>
  </Stack>
)
