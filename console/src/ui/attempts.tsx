import type { Schema } from '../api/client.ts'
import { causeOf } from '../words/deliveries.ts'
import { showSeconds } from '../words/text.ts'
import { Badge } from './badge.tsx'
import { Code } from './code.tsx'
import { Row, Stack } from './page.tsx'
import { Bdi } from './text.tsx'
import { Time } from './values.tsx'

/** The attempts at telling a receiver of an event, the newest first, with the answer of that one open. */
export const Attempts = ({ attempts }: { attempts: readonly Schema<'DeliveryAttempt'>[] }) => (
  <Stack>
    {attempts.length === 0 && <p>Not sent yet.</p>}
    {attempts
      .toReversed()
      .map(
        (
          { number, url, status, duration_ms: ms, error_class: fault, excerpt, started_at: at },
          index,
        ) => (
          <div key={number}>
            <Row>
              <b>Try {number}</b>
              <Badge tone={fault ? 'bad' : 'ok'}>
                {`${status ?? 'no answer'}${ms === undefined ? '' : ` in ${showSeconds(ms / 1000)}`}`}
              </Badge>
              <Time at={at} />
            </Row>
            <p>
              {fault && `${causeOf(fault)}: `}
              <Bdi>{url}</Bdi>
            </p>
            {excerpt && (
              <details open={index === 0}>
                <summary>Answer</summary>
                <Code text={excerpt} label="answer" />
              </details>
            )}
          </div>
        ),
      )}
  </Stack>
)
