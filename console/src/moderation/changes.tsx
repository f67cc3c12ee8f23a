import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { KilnError } from '../api/client.ts'
import { filesQuery } from '../registry/queries.ts'
import { useKeys } from '../shell/keys.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { fileQuery } from '../ui/findings.tsx'
import { Empty, ErrorPanel, Loading, Show } from '../ui/panels.tsx'
import { Bdi, Hidden } from '../ui/text.tsx'
import { changedFiles, diffLines } from './diff.ts'
import type { FileChange } from './diff.ts'
import styles from './moderation.module.css'

interface Sides {
  nodeId: string
  version: string
  /** Undefined: everything is new. */
  previous: string | undefined
}

const TONES = { added: 'ok', removed: 'bad', changed: 'info' } as const

/** The files that changed since the version before, and the lines of each that is opened. `n` and `p` go from one to the next. */
export const Changes = ({ nodeId, version, previous }: Sides) => {
  const after = useQuery(filesQuery(nodeId, version))
  const before = useQuery({
    ...filesQuery(nodeId, previous ?? ''),
    enabled: previous !== undefined,
  })
  const [open, setOpen] = useState<string>()
  // Versions that an older release has checked have no list.
  const isListed = previous !== undefined && !isUnlisted(before.error)
  const changes =
    after.data && (!isListed || before.data)
      ? changedFiles(before.data?.files ?? [], after.data.files)
      : undefined
  const go = (step: number): void => {
    const at = changes?.findIndex(({ path }) => path === open) ?? -1
    setOpen(changes?.[at === -1 && step < 0 ? changes.length - 1 : at + step]?.path)
  }
  useKeys({ n: () => go(1), p: () => go(-1) })
  const failed = [after, before].find(({ error }) => error !== null && !isUnlisted(error))
  if (failed?.error)
    return <ErrorPanel error={failed.error} onRetry={() => void failed.refetch()} />
  if (!changes) return <Loading />
  if (changes.length === 0) return <Empty>No file differs from {previous}.</Empty>
  return (
    <>
      <p>
        {isListed
          ? `Against ${previous}.`
          : previous === undefined
            ? 'There is no live version below it: every file is new.'
            : `The files of ${previous} are not listed, so every file is shown.`}
      </p>
      <ul className={styles.files}>
        {changes.map((change) => (
          <li
            key={change.path}
            ref={(item) =>
              void (change.path === open && item?.scrollIntoView({ block: 'nearest' }))
            }
          >
            <Button
              look="quiet"
              aria-expanded={change.path === open}
              onPress={() => setOpen(change.path === open ? undefined : change.path)}
            >
              <Badge tone={TONES[change.kind]}>{change.kind}</Badge>
              <code>
                <Bdi>{change.path}</Bdi>
              </code>
            </Button>
            {change.path === open && (
              <FileDiff
                of={{ nodeId, version, previous: isListed ? previous : undefined }}
                change={change}
              />
            )}
          </li>
        ))}
      </ul>
    </>
  )
}

const isUnlisted = (error: unknown): boolean =>
  error instanceof KilnError && error.code === 'archive_not_found'

const FileDiff = ({ of, change: { path, kind } }: { of: Sides; change: FileChange }) => {
  const after = useQuery({ ...fileQuery(of.nodeId, of.version, path), enabled: kind !== 'removed' })
  const before = useQuery({
    ...fileQuery(of.nodeId, of.previous ?? '', path),
    enabled: kind !== 'added',
  })
  const asked = kind === 'added' ? [after] : kind === 'removed' ? [before] : [before, after]
  const open = asked.find(({ data }) => data === undefined)
  if (open) return <Show query={open}>{() => null}</Show>
  const lines = diffLines(before.data?.text ?? '', after.data?.text ?? '')
  if (!lines) return <p>Nearly all of it changed: too much to show line by line.</p>
  if (lines.length === 0) return <p>Nothing in it changed.</p>
  return (
    <pre className={styles.diff} tabIndex={0} role="region" aria-label={`Changes of ${path}`}>
      {lines.map((line, index) => (
        <span key={index} className={styles[line.kind]}>
          <span aria-hidden>{line.kind === 'gap' ? '…' : line.number}</span>
          {line.kind === 'added' && <Hidden>added: </Hidden>}
          {line.kind === 'removed' && <Hidden>removed: </Hidden>}
          <Bdi>{line.text === '' ? ' ' : line.text}</Bdi>
        </span>
      ))}
    </pre>
  )
}
