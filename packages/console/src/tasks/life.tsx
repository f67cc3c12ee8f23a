import { Panel } from '../ui/panels.tsx'
import { StateBadge, useNow } from '../ui/values.tsx'
import { showClock } from '../words/language.ts'
import type { Tone } from '../words/states.ts'
import { showSeconds } from '../words/text.ts'
import { t } from '../words/translate.ts'
import styles from './tasks.module.css'
import { makeBars, makeLines, sumUp } from './timeline.ts'
import type { TaskDetail } from './types.ts'

const ERRORS: Record<string, string> = {
  engine_failed: t('the engine failed'),
  internal_error: t('an error of the service'),
  lost: t('its worker stopped'),
  put_back: t('it could not continue and is waiting'),
  timeout: t('it took too long'),
}

/** Why an attempt at rendering ended, by its code. */
const aboutAttempt = (code: string): string => ERRORS[code] ?? code.replaceAll('_', ' ')

const TONES: Record<string, Tone> = { wait: 'soft', failed: 'bad', lost: 'bad' }

/** A task's life as one bar to scale and a line of words; each moment of it on demand. */
export const Life = ({ task }: { task: TaskDetail }) => {
  const bars = makeBars(task, useNow())
  const { waited, ran } = sumUp(bars)
  const count = task.attempts.length
  return (
    <Panel title={t('Timeline')}>
      <p className="row">
        <span className={`${styles.key} soft`}>
          {t('Waiting {time}', { time: showSeconds(waited) })}
        </span>
        {count > 0 && (
          <>
            <span aria-hidden>→</span>
            <span className={`${styles.key} info`}>
              {count > 1
                ? t('Running {time} in {count, plural, one {# attempt} other {# attempts}}', {
                    time: showSeconds(ran),
                    count,
                  })
                : t('Running {time}', { time: showSeconds(ran) })}
            </span>
          </>
        )}
        {task.ended_at && (
          <>
            <span aria-hidden>→</span> <StateBadge state={task.state} />
          </>
        )}
      </p>
      <div className={styles.life} aria-hidden>
        {bars.map(({ kind, number = 0, seconds }, place) => (
          <span
            key={place}
            className={TONES[kind] ?? 'info'}
            style={{ flexGrow: seconds * 1000 }}
            title={`${kind === 'wait' ? t('Waiting') : t('Attempt {number}', { number })} · ${showSeconds(seconds)}`}
          />
        ))}
      </div>
      <details>
        <summary>{t('Each step')}</summary>
        <ol>
          {makeLines(task).map(({ at, status, number, error, after }) => (
            <li
              key={`${at} ${status ?? error ?? 'attempt'}`}
              className={`stack tight ${styles.moment}`}
            >
              <time dateTime={at}>{showClock(at)}</time>
              <span className="soft small">{after > 0 && `+${showSeconds(after)}`}</span>
              {status && <StateBadge state={status} />}
              {number && !error && <span>{t('Attempt {number} began', { number })}</span>}
              {error && (
                <span className={error === 'put_back' ? 'soft' : 'bad'}>
                  {t('Attempt {number}: {error}', {
                    number: number ?? '',
                    error: aboutAttempt(error),
                  })}
                </span>
              )}
            </li>
          ))}
        </ol>
      </details>
    </Panel>
  )
}
