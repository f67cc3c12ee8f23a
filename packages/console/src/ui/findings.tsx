import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { readQuery, type Schema } from '../api/client.ts'
import { t } from '../words/translate.ts'
import { Button } from './button.tsx'
import { Lines, type Line } from './code.tsx'
import { Empty, Loading, Row, Show, Stack } from './panels.tsx'
import { useMore } from './rows.tsx'
import { Badge, Bdi } from './values.tsx'

type Finding = Schema<'Finding'>

const VERSION = '/nodes/{nodeId}/versions/{version}'
const ONCE = { staleTime: Infinity }

/** Query of the findings of a version; places, transitions and requests are for members and platform admins alone. */
export const findingsQuery = (nodeId: string, version: string) =>
  readQuery(`${VERSION}/findings`, { path: { nodeId, version } })

/** The text of a file in the archive of a version, which never changes. */
export const fileQuery = (nodeId: string, version: string, path: string) =>
  readQuery(`${VERSION}/files/content`, { path: { nodeId, version }, query: { path } }, ONCE)

/** One finding in another version: its line may have moved. */
const sameIn = ({ issue_type, file_path, code_snippet }: Finding): string =>
  JSON.stringify([issue_type, file_path, code_snippet])

const gravityOf = ({ severity }: Finding) => Object.keys(SEVERITIES).indexOf(severity)

/** Findings by rule and message, the gravest first. */
const groupFindings = (findings: readonly Finding[]): Finding[][] => {
  const groups = new Map<string, Finding[]>()
  for (const finding of findings.toSorted((a, b) => gravityOf(a) - gravityOf(b))) {
    const { issue_type: rule, severity, message } = finding
    const key = JSON.stringify([rule, severity, message])
    groups.set(key, [...(groups.get(key) ?? []), finding])
  }
  return [...groups.values()]
}

type Of = { nodeId: string; version: string; previous?: string | undefined }

/** The findings of a version by rule, each with its lines of code. What `previous` had already is grey. */
export const Findings = (of: Of) => {
  const { nodeId, version, previous = '' } = of
  const findings = useQuery(findingsQuery(nodeId, version))
  const before = useQuery({ ...findingsQuery(nodeId, previous), enabled: previous !== '' })
  const known = new Set(before.data?.findings?.map(sameIn))
  return (
    <Show query={findings}>
      {({ counts, scanned_at: at, findings: list }) => {
        if (at === undefined) return <Empty>{t('Not checked yet')}</Empty>
        if (list === undefined) return <p>{countsInWords(counts)}</p>
        if (list.length === 0) return <Empty>{t('No findings')}</Empty>
        return (
          <Stack>
            {groupFindings(list).map((places) => (
              <Rule key={places[0]?.id} {...{ places, known, of }} />
            ))}
          </Stack>
        )
      }}
    </Show>
  )
}

/** `2 high, 1 medium`. */
export const countsInWords = ({ high, medium, info }: Schema<'VersionFindings'>['counts']) =>
  [
    high > 0 &&
      t('{count, plural, one {# high-severity finding} other {# high-severity findings}}', {
        count: high,
      }),
    medium > 0 && t('{medium} medium', { medium }),
    info > 0 && t('{info} info', { info }),
  ]
    .filter(Boolean)
    .join(', ') || t('No findings')

const SEVERITIES = {
  high: [t('High|severity'), 'bad'],
  medium: [t('Medium'), 'warn'],
  info: [t('Info'), 'soft'],
} as const

const SHOWN = 3
const STEP = 100

type RuleProps = { places: readonly Finding[]; known: ReadonlySet<string>; of: Of }

const Rule = ({ places, known, of }: RuleProps) => {
  const { shown, more } = useMore(places, SHOWN, STEP)
  const [first] = places
  if (!first) return null
  const isOld = places.every((place) => known.has(sameIn(place)))
  const [word, tone] = SEVERITIES[first.severity]
  return (
    <section className={`stack tight ${isOld ? 'soft' : ''}`}>
      <Row>
        <Badge tone={tone}>{word}</Badge>
        <code>{first.issue_type}</code>
        {isOld && <Badge>{t('also in {previous}', { previous: of.previous })}</Badge>}
      </Row>
      <Bdi as="p">{first.message}</Bdi>
      {shown.map((place) => (
        <Place key={place.id} place={place} of={of} />
      ))}
      {more}
    </section>
  )
}

const Place = ({ place, of }: { place: Finding; of: Of }) => {
  const { file_path: path, line_number: line, code_snippet: code, severity } = place
  const [isOpen, setOpen] = useState(severity !== 'info')
  const hasCode = path !== undefined && line !== undefined
  return (
    <div>
      <Row>
        <code>
          <Bdi>{path ?? t('the whole archive')}</Bdi>
          {line !== undefined && `:${line}`}
        </code>
        {hasCode && !isOpen && (
          <Button variant="quiet" onPress={() => setOpen(true)}>
            {t('Show code')}
          </Button>
        )}
      </Row>
      {hasCode && isOpen && <CodeOf {...{ path, line, code, of }} />}
    </div>
  )
}

/** The line and three before and after it; where the file may not be read, the line alone. */
const CodeOf = (at: { path: string; line: number; code?: string | undefined; of: Of }) => {
  const { path, line, code = '', of } = at
  const { data, isPending } = useQuery(fileQuery(of.nodeId, of.version, path))
  if (isPending) return <Loading rows={1} height={132} />
  const from = data ? Math.max(1, line - 3) : line
  const texts = data?.text.split(/\r\n|[\n\r]/).slice(from - 1, line + 3) ?? [code]
  const lines = texts.map((text, index): Line => {
    const number = from + index
    return { number, text, kind: number === line ? 'hit' : 'same' }
  })
  return <Lines label={t('{path}, line {line}', { path, line })} lines={lines} />
}
