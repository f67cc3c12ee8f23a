import type { Data } from '../api/schema.ts'
import { causeOf } from '../words/causes.ts'
import { showSeconds } from '../words/text.ts'
import { t } from '../words/translate.ts'

type Operations = Data<'/admin/operations'>
type Problem = Operations['problems'][number]
type Host = ReturnType<typeof listFailing>[number]

interface Attention {
  tone: 'bad' | 'warn'
  text: string
  since?: string | undefined
  /** Id of the panel of the page that shows more; absent where none does. */
  panel?: string | undefined
}

/** Lists what is broken or stands still, worst first, with what to do; empty where all is well. */
export const listAttention = ({
  problems,
  stuck,
  temporal,
  deliveries,
  outbox,
}: Operations): Attention[] => {
  const idle = temporal.queues.filter(({ backlog, pollers }) => backlog > 0 && pollers.length === 0)
  // A worker that is missing is the cause of both, and its problem names it.
  const isNamed = problems.some(({ dependency }) => dependency === 'workers')
  const late = stuck.tasks.length + stuck.versions.length
  const all: (Attention | false)[] = [
    ...problems.map(toAttention),
    ...(isNamed ? [] : idle).map(
      ({ name, type, backlog, backlog_age_seconds: age }) =>
        ({
          tone: 'bad',
          text: t(
            '{count, plural, one {# step waits} other {# steps wait}} for {time} in {name} ({type}), and no worker takes {count, plural, one {it} other {them}}: start one',
            { count: backlog, time: showSeconds(age), name, type },
          ),
          panel: 'queues',
        }) as const,
    ),
    ...listFailing(deliveries).map(
      (host) =>
        ({ tone: 'warn', text: sayHost(host), since: host.failing_since, panel: 'hosts' }) as const,
    ),
    late > 0 && {
      tone: 'warn',
      text: t('{count, plural, one {# job} other {# jobs}} without progress for {time}', {
        count: late,
        time: showSeconds(stuck.after_seconds),
      }),
      panel: 'stuck',
    },
    outbox.rows.some(({ last_error: error }) => error) && {
      tone: 'warn',
      text: t(
        '{count, plural, one {# message} other {# messages}} could not be handed to Temporal yet',
        { count: outbox.waiting },
      ),
      panel: 'outbox',
    },
  ]
  return all
    .filter((one) => one !== false)
    .toSorted((a, b) => Number(a.tone === 'warn') - Number(b.tone === 'warn'))
}

const listFailing = (deliveries: Operations['deliveries']) =>
  deliveries.receivers.filter(({ failing: count, paused }) => count > 0 && paused !== true)

/** Panels that show more of a problem. The store has none: its sentence names the folder. */
const PANELS: Readonly<Record<string, string>> = {
  temporal: 'queues',
  workers: 'queues',
  engines: 'instances',
}

const toAttention = (problem: Problem): Attention => ({
  tone: problem.is_urgent === false ? 'warn' : 'bad',
  text: problem.message.charAt(0).toUpperCase() + problem.message.slice(1),
  since: problem.since,
  panel: problem.scope === undefined ? PANELS[problem.dependency] : 'paused',
})

const sayHost = ({ host, failing: count, last_status: status, ...more }: Host): string => {
  const { failing_owners: owners = [], failing_owners_total: total = owners.length } = more
  return t(
    '{count, plural, one {# event} other {# events}} of {owner} for {host} failed and will be tried again for up to three days. {cause}. Its owner mends it, or pause host:{host} until then',
    {
      count,
      owner:
        total > owners.length
          ? t('{count, plural, one {# owner} other {# owners}}', { count: total })
          : owners.join(', '),
      host,
      cause: [causeOf(more.last_error_class), status && `(${status})`].filter(Boolean).join(' '),
    },
  )
}
