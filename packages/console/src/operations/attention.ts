import type { Data } from '../api/schema.ts'
import { showSeconds } from '../words/text.ts'
import { t } from '../words/translate.ts'

type Operations = Data<'/admin/operations'>

interface Attention {
  tone: 'bad' | 'warn'
  text: string
  /** Id of the panel of the page that shows more. */
  panel: string
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
  const late = stuck.tasks.length + stuck.versions.length
  const failing = deliveries.receivers.filter(({ failing: count }) => count > 0)
  const all: (Attention | false)[] = [
    ...problems.map(({ message }) => ({ tone: 'bad', text: message, panel: 'queues' }) as const),
    ...idle.map(
      ({ name, type, backlog, backlog_age_seconds: age }) =>
        ({
          tone: 'bad',
          text: t(
            '{count, plural, one {# step} other {# steps}} for {time} in {name} ({type}), and no worker takes them: start one',
            { count: backlog, time: showSeconds(age), name, type },
          ),
          panel: 'queues',
        }) as const,
    ),
    ...failing.map(
      ({ host, failing: count }) =>
        ({
          tone: 'warn',
          text: t(
            '{count, plural, one {# event} other {# events}} for {host} failed at least once and will be tried again',
            { count, host },
          ),
          panel: 'hosts',
        }) as const,
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
  return all.filter((one) => one !== false)
}
