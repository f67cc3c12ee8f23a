import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { read, send, type Schema } from '../api/client.ts'
import { showToast } from '../shell/toasts.tsx'
import { AskButton, WriteButton } from '../ui/ask.tsx'
import { Select } from '../ui/fields.tsx'
import { Link, taskPage } from '../ui/link.tsx'
import { Row, Stack } from '../ui/panels.tsx'
import { Listing } from '../ui/rows.tsx'
import { StateBadge, Time } from '../ui/values.tsx'
import { titleOf } from '../try/kinds.ts'
import { wordsOf } from '../words/states.ts'
import { counted } from '../words/text.ts'

type State = Schema<'DeliveryState'>
const STATES = ['', 'exhausted', 'pending', 'delivered', 'superseded', 'stopped', 'unsent'] as const
const CHOICES = STATES.map(
  (state) => [state, state === '' ? 'All states' : wordsOf(state).word] as const,
)

const DAY_MS = 86_400_000

/** Events of all tasks of the caller, with their deliveries. */
export const Events = () => {
  const [state, setState] = useState<State | ''>('')
  const log = useInfiniteQuery({
    queryKey: ['events', state],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) => {
      const query = {
        limit: 50,
        ...(state && { state: [state] }),
        ...(pageParam && { after: pageParam }),
      }
      return read('/events', { query }, signal)
    },
    getNextPageParam: ({ next }) => next,
    select: ({ pages }) => pages.flatMap(({ events }) => events),
  })
  return (
    <Stack>
      <Row>
        <Select
          label="State"
          isLabelHidden
          options={CHOICES}
          value={state}
          onChange={(next) => setState(next)}
        />
        <ResendFailed />
      </Row>
      <Listing
        label="Events"
        query={log}
        empty="No events. Tasks with a webhook, and all tasks once there is a subscription, have them."
        columns={{
          Task: ({ task_id: id, kind }) => <Link {...taskPage(id)}>{titleOf(kind)}</Link>,
          Event: ({ status }) => <StateBadge state={status} />,
          Created: ({ created_at: at }) => <Time at={at} />,
          Delivery: ({ state: now, next_attempt_at: next }) => (
            <>
              <StateBadge state={now} /> {next && 'next '}
              {next && <Time at={next} />}
            </>
          ),
          Attempts: ({ attempts }) => attempts,
          '': ({ id: event_id, task_id, state: now }) =>
            now !== 'unsent' && (
              <WriteButton
                label="Resend"
                write={() =>
                  send('POST', '/tasks/{task_id}/events/{event_id}/redeliver', {
                    path: { task_id, event_id },
                  })
                }
              />
            ),
        }}
      />
    </Stack>
  )
}

/** Sends again what has used up its attempts. */
const ResendFailed = () => {
  const [since] = useState(() => new Date(Date.now() - DAY_MS).toISOString())
  return (
    <AskButton
      label="Resend failed"
      title="Resend failed events"
      action="Resend"
      fields={[{ name: 'since', label: 'Since', value: since, help: 'Date and time (ISO 8601).' }]}
      write={({ since: from = '' }) => send('POST', '/events/redeliver', { body: { since: from } })}
      onDone={({ redeliveries }) => showToast(`${counted(redeliveries, 'event')} resent`)}
    >
      <p>Sends every event again that has no attempts left.</p>
    </AskButton>
  )
}
