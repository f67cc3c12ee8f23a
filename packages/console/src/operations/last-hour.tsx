import type { Data } from '../api/schema.ts'
import { titleOf } from '../try/kinds.ts'
import { Link } from '../ui/link.tsx'
import { Panel } from '../ui/panels.tsx'
import { Rows } from '../ui/rows.tsx'
import { Bdi } from '../ui/values.tsx'
import { showNumber } from '../words/language.ts'
import { showTimes } from '../words/text.ts'
import { t } from '../words/translate.ts'

type Hour = Data<'/admin/operations'>['last_hour']

/** Rates of the last hour, and how long things took: tasks by kind, then deliveries to webhook URLs. */
export const LastHour = ({ hour: { tasks, deliveries } }: { hour: Hour }) => {
  const { attempts: ended, seconds: running, ...sent } = deliveries
  const rows = [
    ...tasks,
    ...(ended > 0 ? [{ ...sent, ended, running, kind: undefined, waiting: undefined }] : []),
  ]
  return (
    <Panel title={t('Last hour')}>
      <Rows
        label={t('Last hour')}
        rows={rows}
        empty={t('No task ended and nothing was delivered in the last hour')}
        columns={{
          [t('What')]: ({ kind }) => (
            <Bdi>{kind === undefined ? t('Webhook requests') : titleOf(kind)}</Bdi>
          ),
          [t('Per minute')]: ({ per_minute: rate }) => showNumber(rate),
          [t('Ended')]: ({ ended: count }) => showNumber(count),
          [t('Failed')]: ({ kind, failed, ended: count }) => {
            const text = `${showNumber(failed)} (${Math.round((100 * failed) / count)} %)`
            if (failed === 0) return '0'
            if (kind === undefined) return <a href="#hosts">{text}</a>
            return (
              <Link to="/tasks" search={{ owner: '*', kind, state: 'failed' }}>
                {text}
              </Link>
            )
          },
          [t('Wait, p50 · p95')]: ({ waiting }) => waiting && showTimes(waiting),
          [t('Run, p50 · p95')]: ({ running: times }) => showTimes(times),
        }}
      />
    </Panel>
  )
}
