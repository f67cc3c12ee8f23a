import { useQuery } from '@tanstack/react-query'

import { readQuery, send, type Data } from '../api/client.ts'
import { TASK_KINDS } from '../tasks/list-rows.ts'
import { titleOf } from '../try/kinds.ts'
import { templatesQuery } from '../try/queries.ts'
import { confirmField, type FieldSpec, type Values } from '../ui/ask-field.tsx'
import { AskButton } from '../ui/ask.tsx'
import { Note, Panel } from '../ui/panels.tsx'
import { Rows } from '../ui/rows.tsx'
import { Badge, Bdi, Time } from '../ui/values.tsx'
import { t } from '../words/translate.ts'
import { ENGINES } from './owners.tsx'

type Pause = Data<'/admin/pauses'>['pauses'][number]

const pausesQuery = readQuery('/admin/pauses', {}, { refetchInterval: 5000 })

/** List of what is paused, by an admin or because an engine fails, and the way to pause and resume. */
export const Pauses = () => {
  const { data } = useQuery(pausesQuery)
  return (
    <Panel id="paused" title={t('Paused')} actions={<PauseButton />}>
      <Rows
        label={t('Pauses')}
        rows={data?.pauses ?? []}
        empty={t('Nothing is paused')}
        columns={{
          [t('Scope')]: ({ scope }) => <Bdi as="code">{scope}</Bdi>,
          [t('Why')]: ({ breaker, reason, paused_by: by }) =>
            breaker ? (
              <Badge tone="bad">
                {breaker === 'open' ? t('the engine fails') : t('one task tests the engine')}
              </Badge>
            ) : (
              <>
                <Bdi>{reason}</Bdi>{' '}
                <Bdi as="span" className="soft small">
                  {by}
                </Bdi>
              </>
            ),
          [t('Since')]: ({ paused_at: at }) => <Time at={at} />,
          [t('Until')]: ({ until }) => <Time at={until} />,
          '': (pause) => <Resume pause={pause} />,
        }}
      />
    </Panel>
  )
}

const WHAT = {
  engine: t('Engine'),
  kind: t('Kind of task'),
  owner: t('Owner'),
  host: t('Host of webhook URLs'),
  all: t('Everything'),
}

/** The scope that is chosen; empty until one is. */
const scopeOf = ({ what = '', ...values }: Values): string => {
  const which = values[what]?.trim()
  return what === 'all' ? what : which ? `${what}:${which}` : ''
}

/** Nothing is chosen before an admin does so, and everything is typed: a slip must not stop the service. */
const PauseButton = () => {
  const { templates = [] } = useQuery(templatesQuery).data ?? {}
  const deliveries = useQuery(readQuery('/admin/operations', {})).data?.deliveries
  const { tasks = [] } = useQuery(readQuery('/admin/tasks', { query: { limit: 100 } })).data ?? {}
  const which: Readonly<Record<string, Partial<FieldSpec>>> = {
    engine: { options: ENGINES.flatMap((name) => [name, `${name}:image`, `${name}:video`]) },
    kind: {
      options: [...TASK_KINDS, ...templates.map(({ kind }) => kind)].map(
        (kind) => [kind, titleOf(kind)] as const,
      ),
    },
    owner: { suggestions: [...new Set(tasks.flatMap(({ owner }) => owner ?? []))] },
    host: { suggestions: deliveries ? deliveries.receivers.map(({ host }) => host) : [] },
    all: confirmField('all'),
  }
  return (
    <AskButton
      label={t('Pause')}
      title={t('Pause new work')}
      action={t('Pause')}
      fields={({ what = '' }) => [
        { name: 'what', label: t('What'), options: WHAT },
        ...(which[what] ? [{ label: t('Which'), ...which[what], name: what }] : []),
        { name: 'reason', label: t('Reason'), isOptional: true, help: t('Callers can read it.') },
        { name: 'minutes', label: t('Minutes'), isOptional: true, isNumber: true, help: UNTIL },
      ]}
      effect={(values) => <Effect scope={scopeOf(values)} />}
      write={({ reason, minutes, ...values }) => {
        const until = minutes && new Date(Date.now() + Number(minutes) * 60_000).toISOString()
        const body = { ...(reason && { reason }), ...(until && { until }) }
        return send('PUT', '/admin/pauses/{scope}', { path: { scope: scopeOf(values) }, body })
      }}
    >
      <p>{t('New tasks are accepted and wait. Running tasks finish. Pack checks continue.')}</p>
    </AskButton>
  )
}

/** Counts of what a pause would hold now. */
const Effect = ({ scope }: { scope: string }) => {
  const query = readQuery('/admin/pauses/{scope}', { path: { scope } })
  const { data } = useQuery({ ...query, enabled: scope !== '' })
  if (!data) return null
  const { tasks, events, owners } = data
  const what = scope.startsWith('host:')
    ? t(
        'Holds {events, plural, one {# event} other {# events}} of {owners, plural, one {# owner} other {# owners}}.',
        { events, owners },
      )
    : t(
        'Holds {tasks, plural, one {# task} other {# tasks}} of {owners, plural, one {# owner} other {# owners}}.',
        { tasks, owners },
      )
  return <Note tone="warn">{what}</Note>
}

const UNTIL = t('Resumes after this many minutes. Leave empty to resume it yourself.')

const Resume = ({ pause: { scope, breaker } }: { pause: Pause }) => (
  <AskButton
    label={t('Resume')}
    title={t('Resume {scope}?', { scope })}
    action={t('Resume')}
    write={() => send('DELETE', '/admin/pauses/{scope}', { path: { scope } })}
  >
    <p>
      {breaker
        ? t('All its tasks start at once. It is paused again if they fail.')
        : t('Waiting tasks start now.')}
    </p>
  </AskButton>
)
