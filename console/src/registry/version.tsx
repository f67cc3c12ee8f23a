import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'

import { useStream } from '../api/stream.ts'
import { Badge, StateBadge } from '../ui/badge.tsx'
import { Link, LinkButton } from '../ui/link.tsx'
import { PageTitle, Stack } from '../ui/page.tsx'
import { Fact, Facts, Note, Show } from '../ui/panels.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Bdi } from '../ui/text.tsx'
import { Time } from '../ui/values.tsx'
import { counted } from '../words/text.ts'
import { Files } from './files.tsx'
import { Findings } from './findings.tsx'
import { HostNodes } from './host-nodes.tsx'
import { previousOf } from './node.tsx'
import { LongText, Provenance, Words } from './parts.tsx'
import { versionQuery, versionsQuery } from './queries.ts'
import type { Version } from './queries.ts'
import styles from './registry.module.css'
import { Verdict } from './verdict.tsx'

const route = getRouteApi('/registry/$node/$version')

export const VersionPage = () => {
  const { node, version } = route.useParams()
  const query = useQuery(versionQuery(node, version))
  const previous = usePrevious(query.data)
  useLive(query.data)
  return (
    <>
      <PageTitle
        extra={
          query.data && (
            <>
              <StateBadge state={query.data.status} />
              {query.data.deprecated && <Badge tone="warn">deprecated</Badge>}
            </>
          )
        }
        actions={
          query.data &&
          previous && (
            <LinkButton
              to="/registry/$node/compare/$range"
              params={{ node, range: `${previous.version}...${query.data.version}` }}
            >
              Compare with {previous.version}
            </LinkButton>
          )
        }
      >
        {`${node} ${version}`}
      </PageTitle>
      <Show query={query}>{(data) => <VersionView version={data} previous={previous} />}</Show>
    </>
  )
}

const usePrevious = (version: Version | undefined): Version | undefined => {
  const { node } = route.useParams()
  const { data = [] } = useQuery(versionsQuery(node))
  return version && previousOf(data, version)
}

/** Follows a version until it is checked and read. */
const useLive = (version: Version | undefined): void => {
  const queries = useQueryClient()
  const { node, version: number } = route.useParams()
  const { queryKey } = versionQuery(node, number)
  const isOpen =
    version &&
    (version.status === 'NodeVersionStatusPending' ||
      version.host_node_extract_status === 'pending')
  useStream({
    path: isOpen
      ? `/nodes/${encodeURIComponent(node)}/versions/${encodeURIComponent(number)}/stream`
      : undefined,
    onEvent: ({ event, data }) => {
      if (event === 'state' || event === 'end') queries.setQueryData(queryKey, data as Version)
      if (event === 'end') void queries.invalidateQueries({ queryKey })
    },
    poll: async () => {
      await queries.invalidateQueries({ queryKey, exact: true })
      return 5
    },
  })
}

const TABS = ['host-nodes', 'findings', 'files', 'details'] as const
type Tab = (typeof TABS)[number]

const VersionView = ({
  version,
  previous,
}: {
  version: Version
  previous: Version | undefined
}) => {
  const { tab } = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <Stack>
      <p className={styles.line}>
        <Link to="/registry/$node" params={{ node: version.node_id }}>
          All versions
        </Link>
        <span className={styles.soft}>
          published <Time at={version.createdAt} />
        </span>
        {previous && (
          <>
            <span className={styles.soft}>from {previous.version}:</span>
            <Verdict
              nodeId={version.node_id}
              range={{ from: previous.version, to: version.version }}
            />
          </>
        )}
      </p>
      <Held version={version} />
      {version.changelog && <LongText text={version.changelog} />}
      <Tabs<Tab>
        label="About the version"
        selected={TABS.find((one) => one === tab) ?? 'host-nodes'}
        onSelect={(next) =>
          void navigate({
            search: next === 'host-nodes' ? {} : { tab: next },
            resetScroll: false,
            replace: true,
          })
        }
        tabs={[
          {
            id: 'host-nodes',
            title: version.host_nodes
              ? counted(version.host_nodes.count, 'host node')
              : 'Host nodes',
            content: <HostNodes version={version} />,
          },
          {
            id: 'findings',
            title: 'Findings',
            content: <Findings version={version} previous={previous} />,
          },
          { id: 'files', title: 'Files', content: <Files version={version} /> },
          { id: 'details', title: 'Details', content: <Details version={version} /> },
        ]}
      />
    </Stack>
  )
}

/** Why nobody can install it. */
const Held = ({ version: { status, status_reason: reason } }: { version: Version }) => {
  if (status === 'NodeVersionStatusActive') return null
  if (status === 'NodeVersionStatusPending')
    return <Note>It is being checked. This page shows what comes of it.</Note>
  return (
    <Note tone={status === 'NodeVersionStatusBanned' ? 'bad' : 'warn'}>
      <p>
        {status === 'NodeVersionStatusFlagged'
          ? 'It is held back: nobody can install it until a person has looked at it.'
          : 'Nobody can install it.'}
      </p>
      <p>
        <Bdi>{reason}</Bdi>
      </p>
    </Note>
  )
}

const Details = ({ version }: { version: Version }) => (
  <Facts>
    {version.provenance && (
      <Fact name="Provenance">
        <Provenance provenance={version.provenance} />
      </Fact>
    )}
    {version.dependencies.length > 0 && (
      <Fact name="Requires">
        <ul>
          {version.dependencies.map((one) => (
            <li key={one}>
              <code>
                <Bdi>{one}</Bdi>
              </code>
            </li>
          ))}
        </ul>
      </Fact>
    )}
    <Words name="Tags" words={[...version.tags, ...version.tags_admin]} />
    <Words name="Systems" words={version.supported_os} />
    <Words name="Accelerators" words={version.supported_accelerators} />
    <Words name="Host" words={[version.supported_host_version ?? '']} />
    <Words name="Frontend" words={[version.supported_host_frontend_version ?? '']} />
    <Fact name="Id">
      <code>{version.id}</code>
    </Fact>
  </Facts>
)
