import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { KilnError } from '../api/client.ts'
import type { Change } from '../registry/changes.ts'
import { LEVEL_WORDS } from '../registry/parts.tsx'
import { compareQuery, filesQuery } from '../registry/queries.ts'
import { useKeys } from '../shell/keys.ts'
import { Button } from '../ui/button.tsx'
import { Lines } from '../ui/code.tsx'
import { fileQuery } from '../ui/findings.tsx'
import { comparisonPage, Link } from '../ui/link.tsx'
import { Empty, Show, Stack } from '../ui/panels.tsx'
import { useMore } from '../ui/rows.tsx'
import { Badge, Bdi } from '../ui/values.tsx'
import { t } from '../words/translate.ts'
import { changedFiles, diffLines, type FileChange } from './diff.ts'
import styles from './moderation.module.css'

export interface Sides {
  nodeId: string
  version: string
  /** Undefined: no live version is below it. */
  previous: string | undefined
}

const KINDS = {
  added: ['ok', t('added')],
  removed: ['bad', t('removed')],
  changed: ['info', t('changed')],
} as const

/** The files that changed since the version before, and the lines of each that is opened. `n` and `p` go from one to the next. */
export const Changes = ({ nodeId, version, previous }: Sides) => {
  const hasPrevious = previous !== undefined
  const after = useQuery(filesQuery(nodeId, version))
  const before = useQuery({ ...filesQuery(nodeId, previous ?? ''), enabled: hasPrevious })
  const [open, setOpen] = useState<string>()
  // Versions that an older release has checked have no list.
  const isUnlisted = before.error instanceof KilnError && before.error.code === 'archive_not_found'
  const isListed = hasPrevious && !isUnlisted
  const changes = changedFiles(before.data?.files ?? [], after.data?.files ?? [])
  const go = (step: number): void => {
    const at = changes.findIndex(({ path }) => path === open)
    setOpen(changes[at === -1 && step < 0 ? changes.length - 1 : at + step]?.path)
  }
  useKeys({ n: () => go(1), p: () => go(-1) })
  const asked = isListed ? [before, after] : [after]
  const missing = asked.find(({ data }) => data === undefined)
  if (missing) return <Show query={missing}>{() => null}</Show>
  if (changes.length === 0)
    return <Empty>{t('No file differs from {previous}.', { previous })}</Empty>
  const unlisted = t('The files of {previous} are not listed, so every file is shown.', {
    previous,
  })
  const none = t('There is no live version below it: every file is new.')
  return (
    <div className="stack tight">
      <p>{isListed ? t('Against {previous}.', { previous }) : hasPrevious ? unlisted : none}</p>
      <ul className={`stack tight ${styles.files}`}>
        {changes.map(({ path, kind }) => {
          const isOpen = path === open
          const show = (item: Element | null) =>
            isOpen && item?.scrollIntoView({ block: 'nearest' })
          const toggle = (): void => setOpen(isOpen ? undefined : path)
          return (
            <li key={path} ref={(item) => void show(item)}>
              <Button variant="quiet" aria-expanded={isOpen} onPress={toggle}>
                <Badge tone={KINDS[kind][0]}>{KINDS[kind][1]}</Badge>
                <Bdi as="code">{path}</Bdi>
              </Button>
              {isOpen && <FileDiff of={{ nodeId, version, previous }} change={{ path, kind }} />}
            </li>
          )
        })}
      </ul>
    </div>
  )
}

const FileDiff = ({ of, change: { path, kind } }: { of: Sides; change: FileChange }) => {
  const { nodeId, version, previous = '' } = of
  const after = useQuery({ ...fileQuery(nodeId, version, path), enabled: kind !== 'removed' })
  const before = useQuery({ ...fileQuery(nodeId, previous, path), enabled: kind !== 'added' })
  const asked = kind === 'added' ? [after] : kind === 'removed' ? [before] : [before, after]
  const missing = asked.find(({ data }) => data === undefined)
  if (missing) return <Show query={missing}>{() => null}</Show>
  const lines = diffLines(before.data?.text ?? '', after.data?.text ?? '')
  if (!lines) return <p>{t('Nearly all of it changed: too much to show line by line.')}</p>
  if (lines.length === 0) return <p>{t('Nothing in it changed.')}</p>
  return <Lines label={t('Changes of {path}', { path })} lines={lines} />
}

/** Effects on saved workflows of an update from the version before. */
export const Comparison = ({ nodeId, version, previous = '' }: Sides) => {
  const compared = useQuery({
    ...compareQuery(nodeId, { from: previous, to: version }),
    enabled: previous !== '',
    // It changes once the version is checked again.
    staleTime: 0,
  })
  if (previous === '')
    return <Empty>{t('There is no live version below it to compare with.')}</Empty>
  return (
    <Show query={compared}>
      {({ verdict, counts, changes }) => (
        <Stack>
          <p>
            {verdict === 'none'
              ? t('The nodes of one side could not be read.')
              : t(
                  'Changes against {previous}: {breaks} that break, {may_break} that may break, {safe} safe.',
                  { previous, ...counts },
                )}{' '}
            <Link {...comparisonPage(nodeId, previous, version)}>{t('See the cards')}</Link>
          </p>
          <ChangeList changes={changes} />
        </Stack>
      )}
    </Show>
  )
}

const ChangeList = ({ changes }: { changes: readonly Change[] }) => {
  const { shown, more } = useMore(changes, 100)
  return (
    <>
      <ul className="stack tight">
        {shown.map(({ level, host_node: name, message }, index) => (
          <li key={index}>
            <Badge tone={LEVEL_WORDS[level].tone}>{LEVEL_WORDS[level].word}</Badge>{' '}
            <Bdi>{`${name}: ${message}`}</Bdi>
          </li>
        ))}
      </ul>
      {more}
    </>
  )
}
