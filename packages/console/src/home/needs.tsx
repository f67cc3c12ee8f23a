import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useState, type ReactNode } from 'react'

import type { Schema } from '../api/client.ts'
import { listAttention } from '../operations/attention.ts'
import { changeSettings, useSettings } from '../shell/settings.ts'
import { titleOf } from '../try/kinds.ts'
import { IconButton } from '../ui/button.tsx'
import { Link, taskPage, versionPage } from '../ui/link.tsx'
import { ErrorPanel, NOTE_ICONS, Panel } from '../ui/panels.tsx'
import { Bdi } from '../ui/values.tsx'
import { t } from '../words/translate.ts'
import styles from './home.module.css'
import {
  endpointsQuery,
  failedQuery,
  blockedQuery,
  operationsQuery,
  reviewsQuery,
  summaryQuery,
} from './queries.ts'

interface Need {
  name: string
  tone: keyof typeof NOTE_ICONS
  text: string
  /** Ways to it. */
  links: ReactNode
  /** Changes with what it says: what was dismissed comes back. */
  mark: string
}

const DAY_MS = 86_400_000
const SHOWN = 3

/** Links to versions, each with the reason of its status. */
const listVersions = (versions: readonly Schema<'NodeVersion'>[]) => ({
  links: versions.slice(0, SHOWN).map(({ id, node_id: node, version, status_reason: reason }) => (
    <span key={id}>
      <Link {...versionPage(node, version)}>{`${node} ${version}`}</Link> <Bdi>{reason}</Bdi>
    </span>
  )),
  mark: versions.map(({ id, status_reason: reason }) => `${id} ${reason}`).join(),
})

/** All that waits for the caller, each with a way there; empty where nothing does. */
export const Needs = ({ me }: { me: { id: string; isAdmin: boolean } }) => {
  const [from] = useState(() => new Date(Date.now() - DAY_MS).toISOString())
  const summary = useQuery(summaryQuery)
  const failures = useQuery(failedQuery)
  const endpoints = useQuery(endpointsQuery)
  const failing = (endpoints.data?.endpoints ?? []).filter(
    ({ failing_since: since, disabled_reason: reason }) => since ?? reason === 'failing',
  )
  const blocked = useQuery(blockedQuery)
  const reviews = useQuery({ ...reviewsQuery, enabled: me.isAdmin })
  const operations = useQuery({ ...operationsQuery, enabled: me.isAdmin })
  const [worst, ...others] = operations.data ? listAttention(operations.data) : []
  const { dismissed } = useSettings()
  const dismiss = ({ name, mark }: Need): void =>
    changeSettings({ dismissed: { ...dismissed, [`${name} ${me.id}`]: mark } })
  const { failed = 0 } = summary.data?.day ?? {}
  const exhausted = summary.data?.exhausted_deliveries ?? 0
  const tasks = (failures.data?.tasks ?? []).filter(({ ended_at: at }) => at && at >= from)
  const flagged = blocked.data?.filter(({ status }) => status === 'NodeVersionStatusFlagged') ?? []
  const banned = blocked.data?.filter(({ status }) => status === 'NodeVersionStatusBanned') ?? []
  const waiting = reviews.data?.total ?? 0
  const needs: (Need | false | undefined)[] = [
    worst && {
      name: 'operations',
      tone: worst.tone,
      text: worst.text,
      links: (
        <Link to="/operations">
          {others.length === 0
            ? t('Operations')
            : t('Operations, and {count} more', { count: others.length })}
        </Link>
      ),
      mark: worst.text,
    },
    failed > 0 &&
      tasks.length > 0 && {
        name: 'failed',
        tone: 'bad',
        text: t('{count, plural, one {# task} other {# tasks}} failed in the last 24 hours', {
          count: failed,
        }),
        links: (
          <>
            {tasks.slice(0, SHOWN).map(({ task_id: id, kind }) => (
              <Link key={id} {...taskPage(id)}>
                {titleOf(kind)}
              </Link>
            ))}
            {failed > SHOWN && (
              <Link to="/tasks" search={{ state: 'failed', from }}>
                {t('View all')}
              </Link>
            )}
          </>
        ),
        mark: tasks.reduce((last, { ended_at: at }) => (at && at > last ? at : last), ''),
      },
    failing.length > 0 && {
      name: 'failing',
      tone: 'warn',
      text: t('Webhooks to {hosts} fail', {
        hosts: [...new Set(failing.map(({ url }) => new URL(url).host))].join(', '),
      }),
      links: (
        <Link to="/account" search={{ tab: 'webhooks' }}>
          {t('View subscriptions')}
        </Link>
      ),
      mark: failing.map(({ id, failing_since: since }) => `${id} ${since}`).join(),
    },
    exhausted > 0 && {
      name: 'exhausted',
      tone: 'warn',
      text: t(
        '{count, plural, one {# webhook event} other {# webhook events}} not delivered, no attempts left',
        { count: exhausted },
      ),
      links: (
        <Link to="/account" search={{ tab: 'events' }}>
          {t('View events')}
        </Link>
      ),
      mark: String(exhausted),
    },
    flagged.length > 0 && {
      name: 'flagged',
      tone: 'warn',
      text: t(
        '{count, plural, one {# of your versions is flagged} other {# of your versions are flagged}}',
        { count: flagged.length },
      ),
      ...listVersions(flagged),
    },
    banned.length > 0 && {
      name: 'banned',
      tone: 'bad',
      text: t(
        '{count, plural, one {# of your versions is banned. Fix it and publish a new one.} other {# of your versions are banned. Fix them and publish new ones.}}',
        { count: banned.length },
      ),
      ...listVersions(banned),
    },
    waiting > 0 && {
      name: 'reviews',
      tone: 'info',
      text: t('{count, plural, one {# version} other {# versions}} awaiting review', {
        count: waiting,
      }),
      links: <Link to="/moderation">{t('Review|verb')}</Link>,
      mark: String(waiting),
    },
  ]
  const shown = needs
    .filter((need) => need !== false && need !== undefined)
    .filter(({ name, mark }) => dismissed[`${name} ${me.id}`] !== mark)
  const broken = [summary, failures, endpoints, blocked, reviews].find(({ error }) => error)
  return (
    <>
      {broken && <ErrorPanel error={broken.error} onRetry={() => void broken.refetch()} />}
      {shown.length > 0 && (
        <Panel title={t('Needs attention')}>
          <ul>
            {shown.map((need) => {
              const Icon = NOTE_ICONS[need.tone]
              return (
                <li key={need.name} className={styles.need}>
                  <Icon aria-hidden className={need.tone} />
                  <div className="row">
                    <span>{need.text}</span> {need.links}
                  </div>
                  <IconButton
                    label={t('Dismiss: {text}', { text: need.text })}
                    onPress={() => dismiss(need)}
                  >
                    <X aria-hidden />
                  </IconButton>
                </li>
              )
            })}
          </ul>
        </Panel>
      )}
    </>
  )
}
