import type { Schema } from '../api/client.ts'
import { showSeconds } from '../words/text.ts'
import { Code } from './code.tsx'
import { Row, Stack } from './panels.tsx'
import { Badge, Bdi, Time } from './values.tsx'

type AttemptRow = Schema<'DeliveryAttempt'>

/** The attempts at telling a receiver of an event, the newest first, with the answer of that one open. */
export const Attempts = ({ attempts }: { attempts: readonly AttemptRow[] }) => (
  <Stack>
    {attempts.length === 0 && <p>Not sent yet.</p>}
    {attempts.toReversed().map((attempt, index) => (
      <Attempt key={attempt.number} attempt={attempt} isNewest={index === 0} />
    ))}
  </Stack>
)

/** Nobody has seen its end yet. */
export const isUnderWay = ({ duration_ms: ms, error_class: issue }: AttemptRow): boolean =>
  ms === undefined && issue === undefined

const Attempt = ({ attempt, isNewest }: { attempt: AttemptRow; isNewest: boolean }) => {
  const { number, url, status, duration_ms: ms, error_class: issue, excerpt } = attempt
  const time = ms === undefined ? '' : ` in ${showSeconds(ms / 1000)}`
  return (
    <div>
      <Row>
        <b>Try {number}</b>
        {isUnderWay(attempt) ? (
          <Badge>under way</Badge>
        ) : (
          <Badge tone={issue ? 'bad' : 'ok'}>{`${status ?? 'no answer'}${time}`}</Badge>
        )}
        <Time at={attempt.started_at} />
      </Row>
      <p>
        {issue && `${CAUSES[issue]}: `}
        <Bdi>{url}</Bdi>
      </p>
      {excerpt && (
        <details open={isNewest}>
          <summary>Answer</summary>
          <Code text={excerpt} label="answer" />
        </details>
      )}
    </div>
  )
}

/** Why an attempt did not deliver. */
export const CAUSES: Record<NonNullable<AttemptRow['error_class']>, string> = {
  address_refused: 'The address is not one that Kiln calls',
  dns: 'No host has this name',
  connect: 'Nobody listens at the address',
  tls: 'The certificate of the receiver does not hold',
  timeout: 'The receiver did not answer in time',
  reset: 'The receiver broke the connection',
  status_3xx: 'The receiver sent a redirect, which Kiln does not follow',
  status_4xx: 'The receiver refused it',
  status_5xx: 'The receiver failed',
  gone: 'The receiver wants no more of it',
  unknown: 'Nobody saw how it ended',
}

/** What has become of telling a receiver, where the word alone does not say it. */
export const ABOUT_DELIVERY: Record<string, string> = {
  superseded: 'A later event has overtaken it.',
  exhausted: 'All tries are used up. Send it again once the receiver works.',
  stopped: 'The receiver answered 410, so nothing more is sent to it.',
  unsent: 'It is kept for the log alone.',
}
