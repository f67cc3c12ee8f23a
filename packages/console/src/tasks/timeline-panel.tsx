import { useQueries } from '@tanstack/react-query'

import { CAUSES } from '../ui/attempts.tsx'
import { Panel } from '../ui/panels.tsx'
import { StateBadge, useNow } from '../ui/values.tsx'
import type { Tone } from '../words/states.ts'
import { showSeconds } from '../words/text.ts'
import type { TaskDetail, TaskEvent } from './types.ts'
import { attemptsQuery } from './queries.ts'
import styles from './tasks.module.css'
import { makeLines, makeTimeline, type Bar } from './timeline.ts'

/** Deliveries of so many events are drawn: each is a request. */
const DRAWN = 10
/** A bar as narrow as this part has no room for words. */
const NARROW = 0.08

const ERRORS: Record<string, string> = {
  engine_failed: 'the engine failed',
  internal_error: 'an error of the service',
  lost: 'its worker went away',
  timeout: 'it took too long',
}

/** Why an attempt at rendering ended, by its code. */
const aboutAttempt = (code: string): string => ERRORS[code] ?? code.replaceAll('_', ' ')

const timeOf = (at: string): string => new Date(at).toLocaleTimeString('en-GB')

const TONES: Record<string, Tone> = { wait: 'soft', done: 'ok', failed: 'bad', lost: 'bad' }

type Props = { task: TaskDetail; events: readonly TaskEvent[] }

/** When what happened: bars over time, and below the same in words, which is all that a phone shows. */
export const TimelinePanel = ({ task, events }: Props) => {
  const sent = events.filter(({ attempts }) => attempts > 0).slice(-DRAWN)
  const deliveries = useQueries({
    queries: sent.map((event) => attemptsQuery(task.task_id, event)),
    combine: (responses) => responses.flatMap(({ data }) => data?.attempts ?? []),
  })
  const { bars, dots, folds } = makeTimeline(task, deliveries, useNow())
  return (
    <Panel title="Timeline">
      <div className={`screen ${styles.timeline}`} aria-hidden>
        {bars.map((bar) => (
          <span
            key={bar.left}
            className={`cut ${styles.bar} ${TONES[bar.kind] ?? 'info'} ${bar.kind === 'wait' ? styles.wait : ''}`}
            style={placed(bar)}
            title={aboutBar(bar)}
          >
            {bar.error !== undefined && '✕ '}
            {bar.width > NARROW && aboutBar(bar)}
          </span>
        ))}
        {dots.map(({ left, started_at: at, error_class: error }) => (
          <span
            key={`${at} ${left}`}
            className={`${styles.dot} ${error ? 'bad' : 'ok'}`}
            style={{ left: `${left * 100}%` }}
            title={`notified ${timeOf(at)}${error ? `: ${CAUSES[error]}` : ''}`}
          />
        ))}
        {folds.map((fold) => (
          <span key={fold.left} className={`soft cut ${styles.bar}`} style={placed(fold)}>
            ∥ {showSeconds(fold.seconds)} ∥
          </span>
        ))}
      </div>
      <ol>
        {makeLines(task).map(({ at, status, number, error, after }) => (
          <li key={`${at} ${status ?? error ?? 'try'}`} className={`stack tight ${styles.moment}`}>
            <time dateTime={at}>{timeOf(at)}</time>
            <span className="soft small">{after > 0 && `+${showSeconds(after)}`}</span>
            {status && <StateBadge state={status} />}
            {number && !error && <span>Try {number} began</span>}
            {error && (
              <span className="bad">
                ✕ Try {number}: {aboutAttempt(error)}
              </span>
            )}
          </li>
        ))}
      </ol>
    </Panel>
  )
}

const placed = ({ left, width }: { left: number; width: number }) => ({
  left: `${left * 100}%`,
  width: `${width * 100}%`,
})

const aboutBar = ({ kind, number, seconds }: Bar): string =>
  `${kind === 'wait' ? 'waiting' : `try ${number}`} · ${showSeconds(seconds)}`
