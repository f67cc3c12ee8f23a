import type { Schema } from '../api/client.ts'
import { causeOf } from '../words/deliveries.ts'
import { showSeconds } from '../words/text.ts'
import { Code } from './code.tsx'
import { Row, Stack } from './page.tsx'
import { Badge, Bdi, Time } from './values.tsx'

type Tried = Schema<'DeliveryAttempt'>

/** The attempts at telling a receiver of an event, the newest first, with the answer of that one open. */
export const Attempts = ({ attempts }: { attempts: readonly Tried[] }) => (
  <Stack>
    {attempts.length === 0 && <p>Not sent yet.</p>}
    {attempts.toReversed().map((attempt, index) => (
      <Attempt key={attempt.number} attempt={attempt} isNewest={index === 0} />
    ))}
  </Stack>
)

const Attempt = ({ attempt, isNewest }: { attempt: Tried; isNewest: boolean }) => {
  const { number, url, status, duration_ms: ms, error_class: fault, excerpt } = attempt
  const time = ms === undefined ? '' : ` in ${showSeconds(ms / 1000)}`
  return (
    <div>
      <Row>
        <b>Try {number}</b>
        <Badge tone={fault ? 'bad' : 'ok'}>{`${status ?? 'no answer'}${time}`}</Badge>
        <Time at={attempt.started_at} />
      </Row>
      <p>
        {fault && `${causeOf(fault)}: `}
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
