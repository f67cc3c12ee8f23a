import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { read, send, type Schema } from '../api/client.ts'
import { showToast } from '../shell/toasts.tsx'
import { AskButton, WriteButton } from '../ui/ask.tsx'
import { Copied } from '../ui/code.tsx'
import { Select } from '../ui/fields.tsx'
import { instantOf, localTime } from '../ui/local-time.ts'
import { Link, taskPage } from '../ui/link.tsx'
import { Row, Stack } from '../ui/panels.tsx'
import { Listing } from '../ui/rows.tsx'
import { Bdi, StateBadge, Time } from '../ui/values.tsx'
import { listDeliveries, resend, useSubscriptions } from '../tasks/deliveries.ts'
import { filterWord, stateOf } from '../tasks/delivery-state.ts'
import { titleOf } from '../try/kinds.ts'
import { rich, t } from '../words/translate.ts'

type State = Schema<'DeliveryState'>
const SENT: readonly State[] = ['exhausted', 'pending', 'delivered', 'superseded', 'stopped']
const CHOICES = [
  ['', t('All states')] as const,
  ...SENT.map((state) => [state, filterWord(state)] as const),
]

const DAY_MS = 86_400_000

const hostOf = (url: string | undefined): string | undefined => url && new URL(url).host

/** Shows what was sent of all tasks of the caller, and what still is to be. */
export const Events = () => {
  const [state, setState] = useState<State | ''>('')
  const { urls } = useSubscriptions()
  const states = state === '' ? [...SENT] : [state]
  const log = useInfiniteQuery({
    queryKey: ['events', state],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) => {
      const query = {
        limit: 50,
        state: states,
        ...(pageParam && { after: pageParam }),
      }
      return read('/events', { query }, signal)
    },
    getNextPageParam: ({ next }) => next,
    select: ({ pages }) =>
      listDeliveries(pages.flatMap(({ events }) => events)).filter((sent) =>
        states.includes(sent.state),
      ),
  })
  return (
    <Stack>
      <Row>
        <Select
          label={t('State')}
          isLabelHidden
          options={CHOICES}
          value={state}
          onChange={(next) => setState(next)}
        />
        <ResendFailed />
      </Row>
      <Listing
        label={t('Events')}
        query={log}
        empty={t('Nothing sent. Set a webhook for a task, or subscribe to all tasks.')}
        columns={{
          [t('Task')]: ({ task_id: id, kind, prompt }) => (
            <>
              <Link {...taskPage(id)}>{titleOf(kind)}</Link>
              <Bdi as="p" className="soft small clamp">
                {prompt}
              </Bdi>
            </>
          ),
          [t('Event')]: ({ id, status }) => (
            <>
              <StateBadge state={status} /> <Copied text={id} label={t('event ID')} />
            </>
          ),
          [t('To')]: ({ endpoint_id: id }) => (
            <Bdi>{id === undefined ? t('Webhook URL') : hostOf(urls.get(id))}</Bdi>
          ),
          [t('Created')]: ({ created_at: at }) => <Time at={at} />,
          [t('Delivery')]: (sent) => (
            <>
              <StateBadge state={stateOf(sent)} />{' '}
              {sent.next_attempt_at &&
                rich('next {time}', { time: <Time at={sent.next_attempt_at} /> })}
            </>
          ),
          [t('Attempts')]: ({ attempts }) => attempts,
          '': (sent) => <WriteButton label={t('Resend')} write={() => resend(sent)} />,
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
      label={t('Resend failed')}
      title={t('Resend failed events')}
      action={t('Resend')}
      fields={[{ name: 'since', label: t('Since'), value: localTime(since), isTime: true }]}
      write={({ since: from }) =>
        send('POST', '/events/redeliver', { body: { since: instantOf(from) } })
      }
      onDone={({ redeliveries }) =>
        showToast(
          t('{count, plural, one {# event} other {# events}} resent', { count: redeliveries }),
        )
      }
    >
      <p>
        {t(
          'Resends every event that was not delivered. For one subscription use its “Resend missed”.',
        )}
      </p>
    </AskButton>
  )
}
