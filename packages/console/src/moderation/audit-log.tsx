import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'

import { NUMBERED, read, type Schema } from '../api/client.ts'
import { useChangeSearch } from '../ui/address.ts'
import { SearchField, Select, TextField } from '../ui/fields.tsx'
import { FilterBar } from '../ui/filter-bar.tsx'
import { Link, nodePage, publisherPage, taskPage, versionPage } from '../ui/link.tsx'
import { Facts, Stack } from '../ui/panels.tsx'
import { periodOptions } from '../ui/period.ts'
import { Listing } from '../ui/rows.tsx'
import { Badge, Bdi, Time } from '../ui/values.tsx'
import { wordsOf } from '../words/states.ts'

const route = getRouteApi('/moderation')

type Entry = Schema<'AuditLogEntry'>
type Action = Schema<'AuditAction'>

const ACTIONS: Record<Action, string> = {
  'publisher.create': 'Created publisher',
  'publisher.update': 'Changed publisher',
  'publisher.ban': 'Banned publisher',
  'publisher.unban': 'Lifted ban of publisher',
  'member.put': 'Set role of member',
  'member.remove': 'Removed member',
  'token.create': 'Created publish token',
  'token.revoke': 'Revoked publish token',
  'trusted_publisher.create': 'Added trusted publisher',
  'trusted_publisher.delete': 'Removed trusted publisher',
  'node.create': 'Created pack',
  'node.update': 'Changed pack',
  'node.delete': 'Deleted pack',
  'node.offer': 'Offered pack',
  'node.withdraw': 'Withdrew offer of pack',
  'node.transfer': 'Transferred pack',
  'host_node.update': 'Changed node policy',
  'host_node.report': 'Reported nodes of version',
  'host_node.confirm': 'Confirmed nodes of version',
  'version.publish': 'Published version',
  'version.update': 'Changed version',
  'version.delete': 'Deleted version',
  'version.review': 'Requested review',
  'version.retry': 'Repeated checks',
  'version.restart': 'Restarted checks',
  'review.put': 'Wrote review',
  'review.delete': 'Deleted review',
  'review.reply': 'Replied to review',
  'review.hide': 'Hid review',
  'review.show': 'Showed review',
  'report.close': 'Closed report',
  'endpoint.create': 'Added webhook subscription',
  'endpoint.update': 'Changed webhook subscription',
  'endpoint.delete': 'Deleted webhook subscription',
  'webhook_secret.rotate': 'Rotated webhook secret',
  'api_key.create': 'Created API key',
  'api_key.revoke': 'Revoked API key',
  'account.invite': 'Invited user',
  'account.reset': 'Reset account',
  'account.disable': 'Disabled account',
  'account.role': 'Changed role of account',
  'account.link': 'Linked account',
  'account.sessions_end': 'Ended sessions',
  'account.password': 'Set password',
  'account.passkey_add': 'Added passkey',
  'account.passkey_remove': 'Removed passkey',
  'upload.delete': 'Deleted upload',
  'task.cancel': 'Cancelled task',
  'task.delete': 'Deleted task',
  'task_token.create': 'Made token for task',
  'task.restart': 'Restarted task',
  'task.fail': 'Failed task',
  'instance.drain': 'Drained instance',
  'instance.resume': 'Resumed instance',
  'batch.cancel': 'Cancelled a batch',
  'operation.create': 'Began an operation',
  'operation.cancel': 'Stopped an operation',
  'pause.set': 'Paused',
  'pause.end': 'Resumed',
  'owner.limit': 'Set limits of owner',
  'owner.reset': 'Took limits of owner away',
  'secrets.forget': 'Unreadable secrets removed',
}
const CHOICES = [['', 'All actions'] as const, ...Object.entries(ACTIONS)]

/** Names of the transitions to a status. */
const MOVES: Readonly<Record<string, string>> = {
  NodeVersionStatusActive: 'Approved version',
  NodeVersionStatusFlagged: 'Flagged version',
  NodeVersionStatusBanned: 'Banned version',
  NodeStatusActive: 'Lifted ban of pack',
  NodeStatusBanned: 'Banned pack',
}

type Members = Readonly<Record<string, unknown>>

const inWords = ({ action, after }: Entry): string =>
  MOVES[String((after as Members | undefined)?.['status'])] ?? ACTIONS[action]

/** An address that is whole: one that is being typed finds nothing yet. */
const ADDRESS = /^(\d+\.){3}\d+$|:.*:/

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
    select: ({ pages }) => pages.flatMap(({ entries }) => entries),
  })
  return (
    <Stack>
      <Filters />
      <Listing
        label="Audit log"
        query={log}
        empty={Object.keys(filter).length > 0 ? 'No entries match' : 'No entries yet'}
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
    <SearchField label="Actor" value={actor} onChange={(next) => change({ actor: next })} />
  )
  return (
    <FilterBar
      label="Audit log"
      first={person}
      count={set - (actor ? 1 : 0)}
      onClear={set > 0 ? clear : undefined}
    >
      <Select
        label="Action"
        isLabelHidden
        options={CHOICES}
        value={action ?? ''}
        onChange={(next) => change({ action: next || undefined })}
      />
      <SearchField label="Target" value={q} onChange={(next) => change({ q: next })} />
      <SearchField label="Address" value={address} onChange={(next) => change({ address: next })} />
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
        label="Time"
        isLabelHidden
        options={[...periodOptions(isBetween ? '' : from), [BETWEEN, 'Between two days']]}
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
  Time: ({ at }: Entry) => <Time at={at} />,
  Actor: ({ actor, actor_name: name }: Entry) => (
    <span title={actor}>
      <Bdi>{name ?? actor}</Bdi>
    </span>
  ),
  Action: (entry: Entry) => <span title={entry.action}>{inWords(entry)}</span>,
  Target: ({ target }: Entry) => <Target name={target} />,
  Address: ({ address, credential }: Entry) => (
    <span title={credential}>
      <Bdi>{address}</Bdi>
    </span>
  ),
  Reason: ({ reason }: Entry) => reason && <Bdi>{reason}</Bdi>,
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
