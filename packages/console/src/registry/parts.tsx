import { useMutation, useQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { Suspense, useState } from 'react'

import { read, type Schema } from '../api/client.ts'
import { ownLink } from '../api/links.ts'
import { archiveQuery, serviceQuery } from '../api/queries.ts'
import { lazyPart } from '../shell/lazy-page.ts'
import { Button } from '../ui/button.tsx'
import { comparisonPage, Link, StrangersLink } from '../ui/link.tsx'
import { Code } from '../ui/code.tsx'
import { ErrorPanel, Panel, Row } from '../ui/panels.tsx'
import { Badge, Bdi } from '../ui/values.tsx'
import type { Tone } from '../words/states.ts'
import { nameSystem } from '../words/systems.ts'
import { showBytes, showControls } from '../words/text.ts'
import { rich, t } from '../words/translate.ts'
import type { Comparison } from './changes.ts'
import { compareQuery, versionsQuery, type Version } from './queries.ts'
import styles from './registry.module.css'
import { chooseInstall, writeInstall } from './standing.ts'

export const Markdown = lazyPart(async () => (await import('./markdown.tsx')).Markdown)

const LINES = 4
const SHORT = LINES * 60

/** A stranger's text with its line ends; a long one opens at a press. */
export const LongText = ({ text, isMarkdown }: { text: string; isMarkdown?: true }) => {
  const [isOpen, setIsOpen] = useState(false)
  const isLong = text.length > SHORT || text.split('\n', LINES + 1).length > LINES
  const box = isLong && !isOpen ? 'clamp' : ''
  return (
    <div className={styles.long}>
      {isMarkdown ? (
        <div className={box}>
          <Suspense>
            <Markdown text={showControls(text)} />
          </Suspense>
        </div>
      ) : (
        <Bdi as="p" className={box}>
          {text}
        </Bdi>
      )}
      {isLong && (
        <Button variant="quiet" aria-expanded={isOpen} onPress={() => setIsOpen(!isOpen)}>
          {isOpen ? t('Show less') : t('Show all')}
        </Button>
      )}
    </div>
  )
}

type Supported = Pick<Version, 'tags' | 'tags_admin' | 'supported_os' | 'supported_accelerators'> &
  Partial<Pick<Version, 'supported_host_version' | 'supported_host_frontend_version'>>

/** Facts about tags, and about systems that a node or version claims to support. */
export const support = (of: Supported) => ({
  [t('Tags')]: badges(of.tags),
  [t('Admin tags')]: badges(of.tags_admin, 'info', t('Set by a platform admin')),
  [t('Operating system')]: badges(of.supported_os.map(nameSystem)),
  [t('Accelerators')]: badges(of.supported_accelerators.map(nameSystem)),
  [t('ComfyUI version')]: of.supported_host_version && <Badge>{of.supported_host_version}</Badge>,
  [t('Frontend')]: of.supported_host_frontend_version && (
    <Badge>{of.supported_host_frontend_version}</Badge>
  ),
})

const badges = (words: readonly string[], tone?: Tone, title?: string) =>
  words.length > 0 && (
    <Row>
      {[...new Set(words)].map((word) => (
        <Badge key={word} tone={tone} title={title}>
          {word}
        </Badge>
      ))}
    </Row>
  )

/** The command that installs a version, and its archive; both count as an install. */
export const Install = ({ version }: { version: Version }) => {
  const { node_id: nodeId, version: number, downloadUrl } = version
  const { data: service } = useQuery(serviceQuery)
  const link = ownLink(downloadUrl)
  const size = useQuery({ ...archiveQuery(link ?? ''), enabled: link !== undefined }).data
  const download = useMutation({
    mutationFn: () =>
      read('/nodes/{nodeId}/install', { path: { nodeId }, query: { version: number } }),
    onSuccess: ({ downloadUrl: url = '' }) => location.assign(ownLink(url) ?? url),
  })
  if (downloadUrl === undefined) return null
  const template = chooseInstall(service)
  return (
    <Panel title={t('Install {number}', { number })}>
      <Code
        text={writeInstall(template, version, location.origin)}
        label={t('install command')}
        wraps
      />
      {!service?.install && (
        <p className="soft small">
          {rich(
            'Run it in the folder of ComfyUI, which finds packs in <code>custom_nodes</code>, and restart ComfyUI.',
            { code: (text) => <code>{text}</code> },
          )}{' '}
          {template.includes('KILN_API_KEY')
            ? t('It needs curl, jq and unzip, and an API key with the scope read.')
            : t('It needs curl, jq and unzip.')}
        </p>
      )}
      <Button onPress={() => download.mutate()} isPending={download.isPending}>
        <Download aria-hidden />
        {size ? t('Download .zip ({size})', { size: showBytes(size) }) : t('Download .zip')}
      </Button>
      {download.error && <ErrorPanel error={download.error} />}
      <Verdict version={version} />
    </Panel>
  )
}

/** Repository or issuer that a version was published from, as its CI job has proved. */
export const Provenance = ({ provenance: from }: { provenance: Schema<'Provenance'> }) => (
  <span>
    {rich('Published from {address}', {
      address: <StrangersLink address={from.repository ?? from.issuer} />,
    })}{' '}
    {from.commit && <Bdi>{`${t('at {commit}', { commit: from.commit.slice(0, 10) })} `}</Bdi>}
    {from.ref && <Bdi>{`(${from.ref}) `}</Bdi>}
    {from.run_url && <StrangersLink address={from.run_url}>{t('run')}</StrangersLink>}
  </span>
)

export const LEVELS = ['breaks', 'may_break', 'safe'] as const

export const LEVEL_WORDS: Record<(typeof LEVELS)[number], { word: string; tone: Tone }> = {
  breaks: { word: t('breaks'), tone: 'bad' },
  may_break: { word: t('may break'), tone: 'warn' },
  safe: { word: t('safe'), tone: 'ok' },
}

/** Levels, and what is said in place of one. */
export const VERDICT_WORDS = {
  ...LEVEL_WORDS,
  unknown: { word: t('unknown'), tone: 'warn' },
  none: { word: t('not compared'), tone: 'soft' },
} as const

/** Describes in words how an update affects saved workflows. */
const describe = ({ verdict, counts }: Comparison): string => {
  if (verdict === 'breaks')
    return t('{count, plural, one {# breaking change} other {# breaking changes}}', {
      count: counts.breaks,
    })
  if (verdict === 'may_break' && counts.may_break > 0)
    return t(
      '{count, plural, one {# possibly breaking change} other {# possibly breaking changes}}',
      { count: counts.may_break },
    )
  if (verdict === 'may_break') return t('may break: some nodes were not read')
  if (verdict === 'none') return t('cannot be compared')
  return counts.safe === 0 ? t('No node changes') : t('safe for saved workflows')
}

/** The one published before a version, for which workflows were saved. */
export const usePrevious = (nodeId: string, version: Version | undefined): Version | undefined => {
  const { data = [] } = useQuery(versionsQuery(nodeId))
  const place = data.findIndex(({ id }) => id === version?.id)
  return version && data.slice(place + 1).find(({ status }) => status === 'NodeVersionStatusActive')
}

const isRead = (version: Version | undefined): boolean =>
  version?.host_node_extract_status === 'success'

/** Effect of an update from the previous version, linked to their comparison. */
export const Verdict = ({ version }: { version: Version }) => {
  const { node_id: node, version: to } = version
  const before = usePrevious(node, version)
  const { version: from = '' } = before ?? {}
  const isKnown = isRead(before) && isRead(version)
  const { data } = useQuery({ ...compareQuery(node, { from, to }), enabled: isKnown })
  if (!data) return null
  return (
    <Row>
      <span>{t('Since {version}:', { version: from })}</span>
      <Link {...comparisonPage(node, from, to)} title={t('Compare {from} with {to}', { from, to })}>
        <Badge tone={VERDICT_WORDS[data.verdict].tone}>{describe(data)}</Badge>
      </Link>
    </Row>
  )
}

/** A ref that calls once its element is within 600 pixels of what is seen; undefined does not watch. */
export const whenNear = (onNear: (() => void) | undefined) => (box: Element | null) => {
  if (!onNear || !box) return undefined
  const watch = new IntersectionObserver(([seen]) => seen?.isIntersecting && onNear(), {
    rootMargin: '600px',
  })
  watch.observe(box)
  return () => watch.disconnect()
}
