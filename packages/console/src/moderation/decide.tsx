import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'

import { send, type Schema } from '../api/client.ts'
import { useKeys } from '../shell/keys.ts'
import { showToast } from '../shell/toasts.tsx'
import { Ask } from '../ui/ask.tsx'
import { Button } from '../ui/button.tsx'
import { Row } from '../ui/panels.tsx'
import { Bdi } from '../ui/values.tsx'
import { t } from '../words/translate.ts'

/** Version as platform admins see it. */
export type Version = Schema<'NodeVersionPage'>['versions'][number]

/** `{node}@{version}`, as the address and the list name a version. */
export const keyOf = ({ node_id: nodeId, version }: Pick<Version, 'node_id' | 'version'>): string =>
  `${nodeId}@${version}`

const DECISIONS = {
  a: {
    status: 'NodeVersionStatusActive',
    label: t('Approve'),
    title: t('Approve {versions}?'),
    done: t('{versions}: approved'),
    variant: 'primary',
    help: t('It becomes Latest if it is the highest version. Say what you checked.'),
  },
  h: {
    status: 'NodeVersionStatusFlagged',
    label: t('Flag'),
    title: t('Flag {versions}?'),
    done: t('{versions}: flagged'),
    variant: undefined,
    help: t(
      'The version before stays Latest. Its publisher can read the reason and request a review.',
    ),
  },
  b: {
    status: 'NodeVersionStatusBanned',
    label: t('Ban'),
    title: t('Ban {versions}?'),
    done: t('{versions}: banned'),
    variant: 'danger',
    help: t('It can’t be installed or downloaded. Everyone can read the reason.'),
  },
} as const
type Letter = keyof typeof DECISIONS

/** In place of Flag, for a flagged version with a review: its request is rejected. */
const KEEP = {
  ...DECISIONS.h,
  label: t('Keep on hold'),
  title: t('Keep {versions} on hold?'),
  done: t('{versions}: kept on hold'),
  help: t('Its publisher reads the reason, and can fix it and publish a new version.'),
}

const isFlagged = ({ status }: Version): boolean => status === 'NodeVersionStatusFlagged'
const LETTERS = Object.keys(DECISIONS) as Letter[]

const put = ({ node_id: nodeId, version }: Version, status: Version['status'], reason: string) =>
  send('PUT', '/admin/nodes/{nodeId}/versions/{version}', {
    path: { nodeId, version },
    body: { status, status_reason: reason },
  })

const UNDO_SECONDS = 10

/** A version leaves Pending for ever, and a decision closes the review that was asked for. */
const isFinal = ({ status, moderation }: Version): boolean =>
  status === 'NodeVersionStatusPending' || moderation?.review !== undefined

/** Approve, flag, ban: for one version, or for all that are chosen. Each asks for a reason, and can be undone for a while where nothing is lost by it. */
export const Decide = ({ versions }: { versions: readonly Version[] }) => {
  const queries = useQueryClient()
  const [asked, setAsked] = useState<Letter>()
  const legal = (letter: Letter): Version[] =>
    versions.filter(
      ({ status, moderation }) =>
        status !== 'NodeVersionStatusDeleted' &&
        (status !== DECISIONS[letter].status || (letter === 'h' && moderation?.review)),
    )
  const blockable = legal('h')
  const isKept = blockable.length > 0 && blockable.every(isFlagged)
  const decisions = { ...DECISIONS, ...(isKept && { h: KEEP }) }
  const ask = (letter: Letter) => () => legal(letter).length > 0 && setAsked(letter)
  useKeys({ a: ask('a'), h: ask('h'), b: ask('b') })
  const undo = async (done: readonly Version[]): Promise<void> => {
    const undone = await Promise.allSettled(
      done.map((version) => put(version, version.status, version.status_reason)),
    )
    const failed = undone.filter(({ status }) => status === 'rejected').length
    showToast(
      failed === 0
        ? t('{versions}: as before', { versions: named(done) })
        : t('{count, plural, one {# version} other {# versions}} could not be undone', {
            count: failed,
          }),
    )
    await queries.invalidateQueries()
  }
  /** Decides one version after the other: a rejection is reported, and what was done stays. */
  const decide = async (letter: Letter, reason: string): Promise<Version[]> => {
    const done: Version[] = []
    for (const version of legal(letter)) {
      await put(version, DECISIONS[letter].status, reason)
      done.push(version)
    }
    return done
  }
  const report = (letter: Letter, done: readonly Version[]): void => {
    const undoable = done.filter((version) => !isFinal(version))
    const press = (): void => {
      close()
      void undo(undoable)
    }
    const text = t(decisions[letter].done, { versions: named(done) })
    const close = showToast(<Bdi>{text}</Bdi>, {
      seconds: UNDO_SECONDS,
      action: undoable.length > 0 && <Button onPress={press}>{t('Undo')}</Button>,
    })
  }
  const decision = asked && decisions[asked]
  return (
    <Row>
      {LETTERS.map((letter) => (
        <Button
          key={letter}
          variant={decisions[letter].variant}
          isDisabled={legal(letter).length === 0}
          onPress={ask(letter)}
          aria-keyshortcuts={letter}
        >
          {decisions[letter].label}
          {versions.length > 1 && ` ${legal(letter).length}`}
        </Button>
      ))}
      {asked && decision && (
        <Ask
          title={t(decision.title, { versions: named(legal(asked)) })}
          action={decision.label}
          variant={decision.variant}
          typed={asked === 'b' ? named(legal(asked)) : undefined}
          fields={[{ name: 'status_reason', label: t('Reason'), rows: 3, help: decision.help }]}
          write={({ status_reason: reason = '' }) => decide(asked, reason)}
          onDone={(done) => report(asked, done)}
          onClose={() => setAsked(undefined)}
        >
          {legal(asked).some(isFinal) && (
            <p>{t('This ends the checks or the review. You can decide differently later.')}</p>
          )}
        </Ask>
      )}
    </Row>
  )
}

/** One by its id; of several, how many they are. */
const named = (versions: readonly Version[]): string =>
  versions.length === 1 && versions[0]
    ? keyOf(versions[0])
    : t('{count, plural, one {# version} other {# versions}}', { count: versions.length })
