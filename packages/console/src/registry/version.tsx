import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'

import { useStream } from '../api/stream.ts'
import { Blocked } from '../manage/review.tsx'
import { ManageVersion } from '../manage/version.tsx'
import { Code } from '../ui/code.tsx'
import { AddressField } from '../ui/fields.tsx'
import { countsInWords, fileQuery, Findings, findingsQuery } from '../ui/findings.tsx'
import { comparisonPage, Link, LinkButton, nodePage } from '../ui/link.tsx'
import { EndlessList } from '../ui/list.tsx'
import { Facts, Note, PageTitle, Row, Show, Stack } from '../ui/panels.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { TemporalLink } from '../ui/temporal-link.tsx'
import { Badge, Bdi, Bytes, StateBadge, Time } from '../ui/values.tsx'
import { rich, t } from '../words/translate.ts'
import { HostNodes } from './host-nodes.tsx'
import { Install, LongText, Provenance, support, usePrevious, Verdict } from './parts.tsx'
import { filesQuery, nodeQuery, streamPathOf, versionQuery, type Version } from './queries.ts'
import styles from './registry.module.css'

const route = getRouteApi('/registry/$node/$version')

export const Page = () => {
  const { node, version: number } = route.useParams()
  const query = useQuery(versionQuery(node, number))
  const version = query.data
  const previous = usePrevious(node, version)
  const name = useQuery(nodeQuery(node)).data?.name
  useLive(version)
  const badges = version && (
    <>
      <StateBadge state={version.status} />
      {version.deprecated && <Badge tone="warn">{t('deprecated')}</Badge>}
    </>
  )
  const actions = version && (
    <>
      {previous && (
        <LinkButton {...comparisonPage(node, previous.version, number)}>
          {t('Compare with {version}', { version: previous.version })}
        </LinkButton>
      )}
      <TemporalLink workflow={`publish-version/${version.id}`} />
      <ManageVersion version={version} policies />
    </>
  )
  return (
    <>
      <PageTitle extra={badges} actions={actions}>
        {`${name ?? node} ${number}`}
      </PageTitle>
      <Show query={query}>{(data) => <VersionView version={data} />}</Show>
    </>
  )
}

/** Follows a version until it is checked and read. */
const useLive = (version: Version | undefined): void => {
  const queries = useQueryClient()
  const { node, version: number } = route.useParams()
  const { queryKey } = versionQuery(node, number)
  const isOpen =
    version?.status === 'NodeVersionStatusPending' ||
    version?.host_node_extract_status === 'pending' ||
    version?.host_node_extract_status === 'reported'
  useStream({
    path: isOpen ? streamPathOf(node, number) : undefined,
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

const VersionView = ({ version }: { version: Version }) => {
  // Of the files, the address may name one.
  const { file } = route.useSearch()
  const count = version.host_nodes?.count
  const hostNodes =
    count === undefined ? t('Nodes') : t('{count, plural, one {# node} other {# nodes}}', { count })
  const tabs = {
    'host-nodes': [hostNodes, <HostNodes key="host-nodes" version={version} />],
    findings: [t('Findings'), <Checked key="findings" version={version} />],
    files: [t('Files'), file === undefined ? <FileList /> : <File path={file} />],
    details: [t('Details'), <Details key="details" version={version} />],
  } as const
  return (
    <Stack>
      <Row>
        <Link {...nodePage(version.node_id)}>{t('All versions')}</Link>
        <span className="soft">
          {rich('published {time}', { time: <Time at={version.createdAt} /> })}
        </span>
        <Verdict version={version} />
      </Row>
      <Flagged version={version} />
      {version.changelog && <LongText isMarkdown text={version.changelog} />}
      <div className={`split ${styles.about}`}>
        <Tabs label={t('About the version')} tabs={tabs} />
        <aside aria-label={t('Install')} className="stack">
          <Install version={version} />
        </aside>
      </div>
    </Stack>
  )
}

/** Why nobody can install it. */
const Flagged = ({ version }: { version: Version }) => {
  const { status } = version
  if (status === 'NodeVersionStatusActive') return null
  if (status === 'NodeVersionStatusPending')
    return <Note>{t('Checks are running. This page updates when they finish.')}</Note>
  return (
    <Note tone={status === 'NodeVersionStatusBanned' ? 'bad' : 'warn'}>
      <Blocked version={version} />
      <WorstFinding version={version} />
    </Note>
  )
}

/** For members. */
const WorstFinding = ({ version }: { version: Version }) => {
  const { node_id: nodeId, version: number } = version
  const { data } = useQuery(findingsQuery(nodeId, number))
  // Not those of the version: its stream, which replaces it, has none.
  const findings = data?.findings ?? []
  const worst = findings.find(({ severity }) => severity === 'high') ?? findings[0]
  if (!worst) return null
  return (
    <p>
      <Bdi>{worst.message}</Bdi>{' '}
      {worst.file_path !== undefined && (
        <Bdi as="code">{[worst.file_path, worst.line_number].filter(Boolean).join(':')}</Bdi>
      )}{' '}
      <Link to="." search={{ tab: 'findings' }}>
        {t('{count, plural, one {# finding} other {# findings}}', { count: findings.length })}
      </Link>
    </p>
  )
}

/** Findings of the checks; visitors see only their number. */
const Checked = ({ version }: { version: Version }) => {
  const of = { nodeId: version.node_id, version: version.version }
  const previous = usePrevious(of.nodeId, version)?.version
  return (
    <Show query={useQuery(findingsQuery(of.nodeId, of.version))}>
      {({ counts, scanned_at: at, findings }) => (
        <Stack>
          <p className="soft">
            {at
              ? rich('{counts}, checked {time}', {
                  counts: countsInWords(counts),
                  time: <Time at={at} />,
                })
              : t('Not checked yet')}
          </p>
          {findings ? (
            <Findings {...of} previous={previous} />
          ) : (
            <Note>{t('Members of the publisher see the file and line of each finding.')}</Note>
          )}
        </Stack>
      )}
    </Show>
  )
}

const Details = ({ version }: { version: Version }) => (
  <Facts
    of={{
      [t('Provenance')]: version.provenance && <Provenance provenance={version.provenance} />,
      [t('Requires')]: version.dependencies[0] && (
        <LongText text={version.dependencies.join('\n')} />
      ),
      ...support(version),
      [t('Id')]: version.id,
    }}
  />
)

const FileList = () => {
  const { node, version } = route.useParams()
  const { q = '' } = route.useSearch()
  const query = useQuery(filesQuery(node, version))
  const navigate = route.useNavigate()
  return (
    <Show query={query}>
      {({ files }) => {
        const shown = files.filter(({ path }) => path.toLowerCase().includes(q.toLowerCase()))
        return (
          <Stack>
            <AddressField
              label={t('Search {count, plural, one {# file} other {# files}}', {
                count: files.length,
              })}
            />
            <EndlessList
              key={q}
              label={t('Files')}
              rows={shown}
              keyOf={({ path }) => path}
              height={36}
              onOpen={({ path }) => void navigate({ search: { tab: 'files', file: path } })}
            >
              {({ path, bytes }) => (
                <div className={`row apart ${styles.line}`}>
                  <Link
                    to="."
                    search={{ tab: 'files', file: path }}
                    className={`cut ${styles.path}`}
                  >
                    {path}
                  </Link>
                  <Bytes count={bytes} />
                </div>
              )}
            </EndlessList>
          </Stack>
        )
      }}
    </Show>
  )
}

const File = ({ path }: { path: string }) => {
  const { node, version } = route.useParams()
  const query = useQuery(fileQuery(node, version, path))
  return (
    <Stack>
      <Row>
        <Link to="." search={{ tab: 'files' }}>
          {t('All files')}
        </Link>
        <Bdi>{path}</Bdi>
      </Row>
      <Show query={query}>{({ text }) => <Code text={text} label={path} />}</Show>
    </Stack>
  )
}
