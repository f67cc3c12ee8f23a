import { queryOptions, useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { answerOf, api } from '../api/client.ts'
import type { Schema } from '../api/client.ts'
import { counted } from '../words/text.ts'
import { Badge } from './badge.tsx'
import { Button } from './button.tsx'
import styles from './findings.module.css'
import { Empty, Loading, Show } from './panels.tsx'
import { Row, Stack } from './page.tsx'
import { Bdi } from './text.tsx'

type Finding = Schema<'Finding'>

/** A version in a path, and in a key: ids in lower case. */
const pathOf = (nodeId: string, version: string) => ({ params: { path: { nodeId, version } } })
export const versionKey = (nodeId: string, version: string) =>
  ['version', nodeId.toLowerCase(), version] as const

/** What the checks of a version have found; the places, moves and requests for members and platform admins alone. */
export const findingsQuery = (nodeId: string, version: string) =>
  queryOptions({
    queryKey: [...versionKey(nodeId, version), 'findings'],
    queryFn: ({ signal }) =>
      answerOf(
        api.GET('/nodes/{nodeId}/versions/{version}/findings', {
          ...pathOf(nodeId, version),
          signal,
        }),
      ),
  })

/** The text of a file in the archive of a version, which never changes. */
export const fileQuery = (nodeId: string, version: string, path: string) =>
  queryOptions({
    queryKey: [...versionKey(nodeId, version), 'file', path],
    queryFn: ({ signal }) =>
      answerOf(
        api.GET('/nodes/{nodeId}/versions/{version}/files/content', {
          params: { ...pathOf(nodeId, version).params, query: { path } },
          signal,
        }),
      ),
    staleTime: Infinity,
  })

/** One finding in another version: its line may have moved. */
const sameIn = ({ issue_type, file_path, code_snippet }: Finding): string =>
  JSON.stringify([issue_type, file_path, code_snippet])

export interface RuleFindings {
  rule: string
  severity: Finding['severity']
  message: string
  places: Finding[]
}

const GRAVITY = { high: 0, medium: 1, info: 2 }

/** Findings by rule and message, the gravest first. */
const groupFindings = (findings: readonly Finding[]): RuleFindings[] => {
  const groups = new Map<string, RuleFindings>()
  for (const finding of findings) {
    const { issue_type: rule, severity, message } = finding
    const key = JSON.stringify([rule, severity, message])
    const group = groups.get(key) ?? { rule, severity, message, places: [] }
    group.places.push(finding)
    groups.set(key, group)
  }
  return [...groups.values()].toSorted((a, b) => GRAVITY[a.severity] - GRAVITY[b.severity])
}

interface OfVersion {
  nodeId: string
  version: string
}

/** The findings of a version by rule, each with its lines of code. What `previous` had already is grey. */
export const Findings = ({ nodeId, version, previous }: OfVersion & { previous?: string }) => {
  const findings = useQuery(findingsQuery(nodeId, version))
  const before = useQuery({
    ...findingsQuery(nodeId, previous ?? ''),
    enabled: previous !== undefined,
  })
  const known = new Set(before.data?.findings?.map(sameIn))
  return (
    <Show query={findings}>
      {({ counts, findings: list }) => {
        if (list === undefined) return <p>{countsInWords(counts)}</p>
        if (list.length === 0) return <Empty>The checks have found nothing.</Empty>
        return (
          <Stack>
            {groupFindings(list).map((group) => (
              <Rule
                key={`${group.rule} ${group.message}`}
                group={group}
                known={known}
                previous={previous}
                of={{ nodeId, version }}
              />
            ))}
          </Stack>
        )
      }}
    </Show>
  )
}

/** `2 that hold it back, 1 to look at`. */
export const countsInWords = ({ high, medium, info }: Schema<'VersionFindings'>['counts']) =>
  high + medium + info === 0
    ? 'No findings'
    : [
        high > 0 && `${counted(high, 'finding')} that hold${high === 1 ? 's' : ''} it back`,
        medium > 0 && `${medium} to look at`,
        info > 0 && `${info} for information`,
      ]
        .filter(Boolean)
        .join(', ')

const SEVERITIES = {
  high: ['holds it back', 'bad'],
  medium: ['to look at', 'warn'],
  info: ['for information', 'soft'],
} as const

const SHOWN = 3

const Rule = ({
  group: { rule, severity, message, places },
  known,
  previous,
  of,
}: {
  group: RuleFindings
  known: ReadonlySet<string>
  previous: string | undefined
  of: OfVersion
}) => {
  const [showsAll, setShowsAll] = useState(false)
  const isOld = places.every((place) => known.has(sameIn(place)))
  const [word, tone] = SEVERITIES[severity]
  return (
    <section className={`${styles.rule} ${isOld ? styles.old : ''}`}>
      <Row>
        <Badge tone={tone}>{word}</Badge>
        <code>{rule}</code>
        {isOld && previous !== undefined && <Badge>as in {previous}</Badge>}
      </Row>
      <p>
        <Bdi>{message}</Bdi>
      </p>
      {places.slice(0, showsAll ? undefined : SHOWN).map((place) => (
        <Place key={place.id} place={place} isInfo={severity === 'info'} of={of} />
      ))}
      {places.length > SHOWN && !showsAll && (
        <Button onPress={() => setShowsAll(true)}>Show all {places.length} places</Button>
      )}
    </section>
  )
}

const Place = ({ place, isInfo, of }: { place: Finding; isInfo: boolean; of: OfVersion }) => {
  const { file_path: path, line_number: line, code_snippet: snippet } = place
  const [isOpen, setOpen] = useState(!isInfo)
  const hasCode = path !== undefined && line !== undefined
  return (
    <div>
      <Row>
        <code>
          <Bdi>{path ?? 'the whole archive'}</Bdi>
          {line !== undefined && `:${line}`}
        </code>
        {hasCode && !isOpen && (
          <Button look="quiet" onPress={() => setOpen(true)}>
            Show code
          </Button>
        )}
      </Row>
      {hasCode && isOpen && <Lines of={of} path={path} line={line} snippet={snippet ?? ''} />}
    </div>
  )
}

/** The line and three before and after it; where the file may not be read, the line alone. */
const Lines = ({
  of: { nodeId, version },
  path,
  line,
  snippet,
}: {
  of: OfVersion
  path: string
  line: number
  snippet: string
}) => {
  const { data, isPending } = useQuery(fileQuery(nodeId, version, path))
  if (isPending) return <Loading rows={1} height={132} />
  const all = data?.text.split(/\r\n|[\n\r]/) ?? []
  const from = data ? Math.max(1, line - 3) : line
  const lines = data ? all.slice(from - 1, line + 3) : [snippet]
  return (
    <pre className={styles.lines} tabIndex={0} role="region" aria-label={`${path}, line ${line}`}>
      {lines.map((text, index) => (
        <span key={index} className={from + index === line ? styles.hit : undefined}>
          <span aria-hidden>{from + index}</span>
          <Bdi>{text === '' ? ' ' : text}</Bdi>
        </span>
      ))}
    </pre>
  )
}
