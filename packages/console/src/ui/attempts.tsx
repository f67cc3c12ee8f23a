import type { Schema } from '../api/client.ts'
import { showSeconds } from '../words/text.ts'
import { CAUSES } from '../words/causes.ts'
import { t } from '../words/translate.ts'
import { Code } from './code.tsx'
import { Row, Stack } from './panels.tsx'
import { Badge, Bdi, Time } from './values.tsx'

type AttemptRow = Schema<'DeliveryAttempt'>

/** Attempts to deliver an event, the newest first and with its response open. */
export const Attempts = ({ attempts }: { attempts: readonly AttemptRow[] }) => (
  <Stack>
    {attempts.length === 0 && <p>{t('Not sent yet.')}</p>}
    {attempts.toReversed().map((attempt, index) => (
      <Attempt key={attempt.number} attempt={attempt} isNewest={index === 0} />
    ))}
  </Stack>
)

/** Nobody has seen its end yet. */
export const isUnderWay = ({ duration_ms: ms, error_class: issue }: AttemptRow): boolean =>
  ms === undefined && issue === undefined

const Attempt = ({ attempt, isNewest }: { attempt: AttemptRow; isNewest: boolean }) => {
  const {
    number,
    url,
    status,
    duration_ms: ms,
    error_class: issue,
    error_detail: detail,
    excerpt,
    labels = {},
    header_names: headers = [],
  } = attempt
  const outcome = status === undefined ? t('failed') : String(status)
  const text =
    ms === undefined ? outcome : t('{outcome} in {time}', { outcome, time: showSeconds(ms / 1000) })
  return (
    <div>
      <Row>
        <b>{t('Attempt {number}', { number })}</b>
        {isUnderWay(attempt) ? (
          <Badge>{t('under way')}</Badge>
        ) : (
          <Badge tone={issue ? 'bad' : 'ok'}>{text}</Badge>
        )}
        <Time at={attempt.started_at} />
      </Row>
      <p>
        {issue && `${CAUSES[issue]}: `}
        <Bdi>{url}</Bdi>
      </p>
      {detail && <p>{detail}</p>}
      {headers.length > 0 && <p>{t('Headers: {headers}', { headers: headers.join(', ') })}</p>}
      <Row>
        {Object.entries(labels).map(([key, value]) => (
          <Badge key={key}>{`${key}:${value}`}</Badge>
        ))}
      </Row>
      {excerpt && (
        <details open={isNewest}>
          <summary>{t('Response')}</summary>
          <Code text={excerpt} label={t('response')} />
        </details>
      )}
    </div>
  )
}

/** Explanations of those states of a delivery whose word alone does not say it. */
export const ABOUT_DELIVERY: Record<string, string> = {
  superseded: t('A later event came first.'),
  exhausted: t('All attempts are used up. Send it again once the webhook URL works.'),
  stopped: t('The webhook URL responded with 410, so nothing more is sent to it.'),
  unsent: t('Kept in the log only.'),
}
