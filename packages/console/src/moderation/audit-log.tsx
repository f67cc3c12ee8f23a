import { keepPreviousData, useInfiniteQuery, type InfiniteData } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'

import { AS_IT_COMES, NUMBERED, read, type Data, type Schema } from '../api/client.ts'
import { useChangeSearch } from '../ui/address.ts'
import { SearchField, Select, TextField } from '../ui/fields.tsx'
import { FilterBar } from '../ui/filter-bar.tsx'
import { Link, nodePage, publisherPage, taskPage, versionPage } from '../ui/link.tsx'
import { Facts, Stack } from '../ui/panels.tsx'
import { periodOptions } from '../ui/period.ts'
import { Listing } from '../ui/rows.tsx'
import { Badge, Bdi, Time } from '../ui/values.tsx'
import { wordsOf } from '../words/states.ts'
import { t } from '../words/translate.ts'

const route = getRouteApi('/moderation')

type Entry = Schema<'AuditLogEntry'>
type Action = Schema<'AuditAction'>

const ACTIONS: Record<Action, string> = {
  'publisher.create': t('Created publisher'),
  'publisher.update': t('Changed publisher'),
  'publisher.ban': t('Banned publisher'),
  'publisher.unban': t('Lifted ban of publisher'),
  'member.put': t('Set role of member'),
  'member.remove': t('Removed member'),
  'token.create': t('Created publish token'),
  'token.revoke': t('Revoked publish token'),
  'trusted_publisher.create': t('Added trusted publisher'),
  'trusted_publisher.delete': t('Removed trusted publisher'),
  'node.create': t('Created pack'),
  'node.update': t('Changed pack'),
  'node.delete': t('Deleted pack'),
  'node.offer': t('Offered pack'),
  'node.withdraw': t('Withdrew offer of pack'),
  'node.transfer': t('Transferred pack'),
  'host_node.update': t('Changed node policy'),
  'host_node.report': t('Reported nodes of version'),
  'host_node.confirm': t('Confirmed nodes of version'),
  'version.publish': t('Published version'),
  'version.update': t('Changed version'),
  'version.delete': t('Deleted version'),
  'version.review': t('Requested review'),
  'version.retry': t('Repeated checks'),
  'version.restart': t('Restarted checks'),
  'review.put': t('Wrote review'),
  'review.delete': t('Deleted review'),
  'review.reply': t('Replied to review'),
  'review.hide': t('Hid review'),
  'review.show': t('Showed review'),
  'report.close': t('Closed report'),
  'endpoint.create': t('Added webhook subscription'),
  'endpoint.update': t('Changed webhook subscription'),
  'endpoint.delete': t('Deleted webhook subscription'),
  'webhook_secret.rotate': t('Rotated webhook secret'),
  'api_key.create': t('Created API key'),
  'api_key.revoke': t('Revoked API key'),
  'account.invite': t('Invited user'),
  'account.reset': t('Reset account'),
  'account.disable': t('Disabled account'),
  'account.role': t('Changed role of account'),
  'account.link': t('Linked account'),
  'account.sessions_end': t('Ended sessions'),
  'account.password': t('Set password'),
  'account.passkey_add': t('Added passkey'),
  'account.passkey_remove': t('Removed passkey'),
  'upload.delete': t('Deleted upload'),
  'task.cancel': t('Cancelled task'),
  'task.delete': t('Deleted task'),
  'task_token.create': t('Made token for task'),
  'task.restart': t('Restarted task'),
  'task.fail': t('Failed task'),
  'instance.drain': t('Drained instance'),
  'instance.resume': t('Resumed instance'),
  'batch.cancel': t('Cancelled a batch'),
  'operation.create': t('Began an operation'),
  'operation.cancel': t('Stopped an operation'),
  'pause.set': t('Paused'),
  'pause.end': t('Resumed'),
  'owner.limit': t('Set limits of owner'),
  'owner.reset': t('Removed limits of owner'),
  'secrets.forget': t('Unreadable secrets removed'),
}
const CHOICES = [['', t('All actions')] as const, ...Object.entries(ACTIONS)]

/** Names of the transitions to a status. */
const MOVES: Readonly<Record<string, string>> = {
  NodeVersionStatusActive: t('Approved version'),
  NodeVersionStatusFlagged: t('Flagged version'),
  NodeVersionStatusBanned: t('Banned version'),
  NodeStatusActive: t('Lifted ban of pack'),
  NodeStatusBanned: t('Banned pack'),
}

type Members = Readonly<Record<string, unknown>>

const inWords = ({ action, after }: Entry): string =>
  MOVES[String((after as Members | undefined)?.['status'])] ?? ACTIONS[action]

/** An address that is whole: one that is being typed finds nothing yet. */
const ADDRESS = /^(\d+\.){3}\d+$|:.*:/

/** Stands here so that it runs when pages change, not at each rendering. */
const listEntries = ({ pages }: InfiniteData<Data<'/admin/audit-log'>>): Entry[] =>
  pages.flatMap(({ entries }) => entries)

/** Changes of all that is kept, the newest first. */
export const AuditLog = () => {
  const { q, actor, action, address, from, to } = route.useSearch()
  const filter = {
    ...(q && { target: q }),
    ...(actor && { actor }),
    ...(action && action in ACTIONS && { action: action as Action }),
    ...(address && ADDRESS.test(address) && { address }),
    ...(from && { since: new Date(`${from}T00:00`).toISOString() }),
    ...(to && { until: new Date(`${to}T24:00`).toISOString() }),
  }
  const log = useInfiniteQuery({
    queryKey: ['audit-log', filter],
    queryFn: ({ pageParam: page, signal }) =>
      read('/admin/audit-log', { query: { page, pageSize: 25, ...filter } }, signal),
    ...NUMBERED,
    ...AS_IT_COMES,
    select: listEntries,
    // A key changes the filter: the rows stay until there are others.
    placeholderData: keepPreviousData,
  })
  return (
    <Stack>
      <Filters />
      <Listing
        label={t('Audit log')}
        query={log}
        empty={Object.keys(filter).length > 0 ? t('No entries match') : t('No entries yet')}
        columns={COLUMNS}
        details={showChanges}
      />
    </Stack>
  )
}

const Filters = () => {
  const { q, actor, action, address, from, to } = route.useSearch()
  const change = useChangeSearch()
  const navigate = useNavigate()
  const set = [q, actor, action, address, from ?? to].filter(Boolean).length
  const clear = (): void => void navigate({ to: '.', search: { tab: 'log' }, replace: true })
  const person = (
    <SearchField label={t('Actor')} value={actor} onChange={(next) => change({ actor: next })} />
  )
  return (
    <FilterBar
      label={t('Audit log')}
      first={person}
      count={set - (actor ? 1 : 0)}
      onClear={set > 0 ? clear : undefined}
    >
      <Select
        label={t('Action')}
        isLabelHidden
        options={CHOICES}
        value={action ?? ''}
        onChange={(next) => change({ action: next || undefined })}
      />
      <SearchField label={t('Target')} value={q} onChange={(next) => change({ q: next })} />
      <SearchField
        label={t('Address')}
        value={address}
        onChange={(next) => change({ address: next })}
      />
      <Days />
    </FilterBar>
  )
}

const BETWEEN = 'between'
const DAYS = { from: t('From|day'), to: t('To|day') } as const

/** A period by its name, or by its first and last day. */
const Days = () => {
  const { from, to } = route.useSearch()
  const change = useChangeSearch()
  const [isBetween, setBetween] = useState(to !== undefined)
  return (
    <>
      <Select
        label={t('Time')}
        isLabelHidden
        options={[...periodOptions(isBetween ? '' : from), [BETWEEN, t('Between two days')]]}
        value={isBetween ? BETWEEN : (from ?? '')}
        onChange={(next) => {
          setBetween(next === BETWEEN)
          if (next !== BETWEEN) change({ from: next || undefined, to: undefined })
        }}
      />
      {isBetween &&
        (['from', 'to'] as const).map((name) => (
          <TextField
            key={name}
            label={DAYS[name]}
            type="date"
            value={{ from, to }[name] ?? ''}
            onChange={(next) => change({ [name]: next || undefined })}
          />
        ))}
    </>
  )
}

/** The page of what an entry names as `kind/id`, or `version/{node}@{version}`. */
const Target = ({ name }: { name: string }) => {
  const [, kind = '', id = '', version = ''] = /^(\w+)\/([^@]*)@?(.*)$/.exec(name) ?? []
  if (kind === 'version') return <Link {...versionPage(id, version)}>{`${id} ${version}`}</Link>
  if (kind === 'node') return <Link {...nodePage(id)}>{id}</Link>
  if (kind === 'publisher') return <Link {...publisherPage(id)}>{id}</Link>
  if (kind === 'operation')
    return (
      <Link to="/tasks/bulk" search={{ tab: 'operations', id }}>
        {id}
      </Link>
    )
  if (kind === 'task') return <Link {...taskPage(id)}>{id}</Link>
  return <Bdi>{name}</Bdi>
}

const COLUMNS = {
  [t('Time')]: ({ at }: Entry) => <Time at={at} />,
  [t('Actor')]: ({ actor, actor_name: name }: Entry) => (
    <span title={actor}>
      <Bdi>{name ?? actor}</Bdi>
    </span>
  ),
  [t('Action')]: (entry: Entry) => <span title={entry.action}>{inWords(entry)}</span>,
  [t('Target')]: ({ target }: Entry) => <Target name={target} />,
  [t('Address')]: ({ address, credential }: Entry) => (
    <span title={credential}>
      <Bdi>{address}</Bdi>
    </span>
  ),
  [t('Reason')]: ({ reason }: Entry) => reason && <Bdi>{reason}</Bdi>,
}

const showChanges = ({ before = {}, after = {} }: Entry) => {
  const changes = listChanges(before, after)
  if (changes.length === 0) return null
  return (
    <Facts
      of={Object.fromEntries(
        changes.map(({ name, text, side }) => [
          name,
          <span key={name}>
            <Bdi as="code">{text}</Bdi>{' '}
            {side && <Badge>{side === 'new' ? t('new') : t('removed')}</Badge>}
          </span>,
        ]),
      )}
    />
  )
}

interface Change {
  name: string
  text: string
  /** Side that has the member, where only one has it. */
  side?: 'new' | 'removed'
}

/** Each member that a change is about: its old and new value, or the one that there is. */
const listChanges = (before: Members, after: Members): Change[] =>
  Object.keys({ ...before, ...after }).map((name) => {
    const sides = [before[name], after[name]].filter((value) => value !== undefined)
    const text = sides.map((value) => showValue(name, value)).join(' → ')
    if (sides.length !== 1) return { name, text }
    return { name, text, side: before[name] === undefined ? 'new' : 'removed' }
  })

const showValue = (name: string, value: unknown): string => {
  if (typeof value !== 'string') return JSON.stringify(value)
  return name === 'status' ? wordsOf(value).word : value
}
