import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'

import { ManageNode } from '../manage/node.tsx'
import { ManageVersion } from '../manage/version.tsx'
import { findingsQuery } from '../ui/findings.tsx'
import { Link, publisherPage, StrangersLink, versionPage } from '../ui/link.tsx'
import { Empty, Facts, Note, PageTitle, Panel, Row, Show, Stack } from '../ui/panels.tsx'
import { useMore } from '../ui/rows.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Badge, Bdi, Picture, StateBadge, Tile, Time } from '../ui/values.tsx'
import { rich, t } from '../words/translate.ts'
import { Downloads } from './downloads.tsx'
import { HostNodes } from './host-nodes.tsx'
import { Overview } from './overview.tsx'
import { Install, LongText, Provenance, support, Verdict } from './parts.tsx'
import { bannerOf, iconOf, nodeQuery, versionsQuery, type Node, type Version } from './queries.ts'
import styles from './registry.module.css'
import { ReportPack } from './report.tsx'
import { Reviews, titleOfReviews } from './reviews.tsx'
import { byNumber, explainInstalls, readLicense } from './standing.ts'

const route = getRouteApi('/registry/$node')

export const Page = () => {
  const { node: nodeId } = route.useParams()
  const node = useQuery(nodeQuery(nodeId))
  const status = node.data?.status ?? 'NodeStatusActive'
  // A pack without a version is not published.
  const isShown = status !== 'NodeStatusActive' || node.data?.latest_version !== undefined
  const icon = node.data && <Tile src={iconOf(node.data)} name={node.data.name} size={64} />
  return (
    <>
      <PageTitle
        icon={icon}
        extra={isShown && <StateBadge state={status} />}
        actions={node.data && <ManageNode node={node.data} />}
      >
        {node.data?.name ?? nodeId}
      </PageTitle>
      <Show query={node}>{(data) => <NodeView node={data} />}</Show>
    </>
  )
}

const NO_HOST_NODES = t('Nodes appear here once a version is published.')

const NodeView = ({ node }: { node: Node }) => {
  const versions = useQuery(versionsQuery(node.id))
  const { latest_version: latest } = node
  const active = versions.data?.filter(({ status }) => status === 'NodeVersionStatusActive') ?? []
  const tabs = {
    ...(latest && {
      overview: [
        t('Overview'),
        <Overview key="o" version={latest} license={node.license} />,
      ] as const,
    }),
    versions: [
      versions.data
        ? t('{count, plural, one {# version} other {# versions}}', { count: versions.data.length })
        : t('Versions'),
      <Show key="versions" query={versions}>
        {(all) => <Versions versions={all} latest={latest} />}
      </Show>,
    ],
    'host-nodes': [
      latest?.host_nodes
        ? t('{count, plural, one {# node} other {# nodes}}', { count: latest.host_nodes.count })
        : t('Nodes'),
      latest ? <HostNodes version={latest} /> : <Empty>{NO_HOST_NODES}</Empty>,
    ],
    reviews: [titleOfReviews(node), <Reviews key="reviews" node={node} />],
  } as const
  return (
    <Stack>
      <Picture src={bannerOf(node)} className={styles.banner} />
      <Intro node={node} />
      {node.status_detail && (
        <Note tone="bad">
          <Bdi>{node.status_detail}</Bdi>
        </Note>
      )}
      {active.length > 0 && active.every(({ deprecated }) => deprecated) && (
        <Note tone="warn">{t('All versions are deprecated by the publisher.')}</Note>
      )}
      {versions.data && <Standing versions={versions.data} latest={latest} />}
      <div className={`split ${styles.about}`}>
        <Tabs label={t('About the pack')} tabs={tabs} />
        <aside aria-label={t('Facts')} className="stack">
          {latest && <Install version={latest} />}
          <Details node={node} />
          <ReportPack node={node} />
        </aside>
      </div>
    </Stack>
  )
}

const Intro = ({ node }: { node: Node }) => {
  const { publisher, description } = node
  const stars =
    node.github_stars > 0 &&
    t('{count, plural, one {# star} other {# stars}}', { count: node.github_stars })
  const summary = [
    node.id,
    t('{count, plural, one {# download} other {# downloads}}', { count: node.downloads }),
    stars,
  ]
  return (
    <div className="stack tight">
      <p className="soft">
        {rich('By {publisher}', {
          publisher: <Link {...publisherPage(publisher.id)}>{publisher.name}</Link>,
        })}{' '}
        · <Bdi>{summary.filter(Boolean).join(' · ')}</Bdi>
      </p>
      {description && <LongText text={description} />}
      <Downloads node={node.id} />
    </div>
  )
}

type Versioned = { versions: readonly Version[]; latest: Version | undefined }

/** Note on the version that installs get, when that is not the newest. */
const Standing = ({ versions: [newest], latest }: Versioned) => {
  const { node_id: node = '', version = '', status } = newest ?? {}
  const isFlagged = status === 'NodeVersionStatusFlagged'
  const { data } = useQuery({ ...findingsQuery(node, version), enabled: isFlagged })
  const words = explainInstalls(newest, latest, data?.counts.high)
  if (words === undefined) return null
  return (
    <Note tone={newest && status !== 'NodeVersionStatusActive' ? 'warn' : 'info'}>
      <p>{words}</p>
      {newest && (
        <Link {...versionPage(node, version)} search={isFlagged ? { tab: 'findings' } : {}}>
          {isFlagged ? t('View findings') : t('View {version}', { version })}
        </Link>
      )}
    </Note>
  )
}

const STEP = 10

const Versions = ({ versions, latest }: Versioned) => {
  const sorted = versions.toSorted((a, b) => byNumber(a.version, b.version))
  const { shown, more } = useMore(sorted, STEP)
  if (versions.length === 0) return <Empty>{t('No versions published yet.')}</Empty>
  return (
    <>
      <ul aria-label={t('Versions')}>
        {shown.map((version) => (
          <VersionRow key={version.id} version={version} isLatest={version.id === latest?.id} />
        ))}
      </ul>
      {more}
    </>
  )
}

const VersionRow = ({ version, isLatest }: { version: Version; isLatest: boolean }) => {
  const { node_id: nodeId, version: number, status, changelog, provenance } = version
  const { counts } = useQuery(findingsQuery(nodeId, number)).data ?? {}
  const found = counts ? counts.high + counts.medium : 0
  const to = versionPage(nodeId, number)
  return (
    <li className={`stack ${styles.version}`}>
      <Row>
        <Link {...to} className={styles.number}>
          {number}
        </Link>
        <StateBadge state={status} />
        {isLatest && <Badge tone="info">{t('Latest')}</Badge>}
        {version.deprecated && <Badge tone="warn">{t('deprecated')}</Badge>}
        <span className="soft">
          <Time at={version.createdAt} />
          {version.host_nodes &&
            ` · ${t('{count, plural, one {# node} other {# nodes}}', { count: version.host_nodes.count })}`}
        </span>
        <ManageVersion version={version} />
      </Row>
      {status !== 'NodeVersionStatusActive' && <Bdi>{version.status_reason}</Bdi>}
      {changelog && <LongText isMarkdown text={changelog} />}
      <Row>
        <Verdict version={version} />
        {found > 0 && (
          <Link {...to} search={{ tab: 'findings' }}>
            {t('{count, plural, one {# finding} other {# findings}}', { count: found })}
          </Link>
        )}
        {provenance && <Provenance provenance={provenance} />}
      </Row>
    </li>
  )
}

const Details = ({ node }: { node: Node }) => {
  const { publisher, latest_version: latest, license, repository } = node
  return (
    <Panel title={t('Details')}>
      <Facts
        of={{
          [t('License')]:
            latest?.license_id ?? (license && <LongText text={readLicense(license)} />),
          ...support(node),
          [t('Published')]: latest && <Time at={latest.createdAt} />,
          [t('Created')]: <Time at={node.created_at} />,
          [t('Author')]: node.author && <Bdi>{node.author}</Bdi>,
          [t('Repository')]: repository && <StrangersLink address={repository} />,
          [t('Website')]: publisher.website && <StrangersLink address={publisher.website} />,
          [t('Support')]: publisher.support && <StrangersLink address={publisher.support} />,
        }}
      />
    </Panel>
  )
}
