import { useQuery, useQueryClient } from '@tanstack/react-query'

import { rich, t } from '../words/translate.ts'
import { post as postPath, readLines } from './queries.ts'
import { readQuery, responseOf, send } from '../api/client.ts'
import type { OperationLine } from '../../../client/src/index.ts'
import type { Data } from '../api/schema.ts'
import { Ask, WriteButton } from '../ui/ask.tsx'
import { Dialog } from '../ui/layers.tsx'
import { Link } from '../ui/link.tsx'
import { Row, Show } from '../ui/panels.tsx'
import { Bdi, Progress } from '../ui/values.tsx'

import { describeFilter, operationBody, type Chosen, type OperationAction } from './filter.ts'

export type Operation = Data<'/operations/{id}'>

const POLL_MS = 1000

const operationQuery = (id: string) => readQuery('/operations/{id}', { path: { id } })

const hasEnded = ({ ended_at: at }: Operation): boolean => at !== undefined

type Whose = { chosen: Chosen & { owner?: string } }

/** Begins to act; returns the id of the operation. */
const begin = async (action: OperationAction, { chosen }: Whose): Promise<string> => {
  const made = await responseOf(postPath('/operations', { body: operationBody(action, chosen) }))
  return (made as { operation_id: string }).operation_id
}

/** Each action on some tasks, with its effect. Texts with a number have the forms of their language still. */
const ACTIONS: Record<
  OperationAction,
  {
    name: string
    /** Name on all tasks that match. */
    ofAll: string
    /** Outcome for a number of tasks. */
    done: string
    about: string
    isDestructive?: true
    dismiss?: string
  }
> = {
  cancel: {
    name: t('{count, plural, one {Cancel # task} other {Cancel # tasks}}'),
    ofAll: t('Cancel all that match'),
    done: t('{count, plural, one {# task} other {# tasks}} cancelled'),
    about: t('Unfinished tasks stop without a result; their credits are refunded.'),
    isDestructive: true,
    dismiss: t('Keep running'),
  },
  run_again: {
    name: t('{count, plural, one {Run # task again} other {Run # tasks again}}'),
    ofAll: t('Run all that match again'),
    done: t('{count, plural, one {# task} other {# tasks}} run again'),
    about: t('Each becomes a new task, at the usual price.'),
  },
  redeliver: {
    name: t('{count, plural, one {Resend events of # task} other {Resend events of # tasks}}'),
    ofAll: t('Resend events of all that match'),
    done: t('{count, plural, one {# task} other {# tasks}} with events resent'),
    about: t('Undelivered events are sent again, with the same ids.'),
  },
  delete: {
    name: t('{count, plural, one {Delete # task} other {Delete # tasks}}'),
    ofAll: t('Delete all that match'),
    done: t('{count, plural, one {# task} other {# tasks}} deleted'),
    about: t(
      'Their inputs, results and prompts are removed, and links to them end. Unfinished tasks are cancelled first. This can’t be undone.',
    ),
    isDestructive: true,
  },
}

/** `Cancel 60 tasks`, or `Cancel all that match`. */
export const nameOperation = (action: OperationAction, count?: number): string =>
  count === undefined ? ACTIONS[action].ofAll : t(ACTIONS[action].name, { count })

/** Returns true where something is lost by it. */
export const isDestructive = (action: OperationAction): boolean =>
  ACTIONS[action].isDestructive === true

type AskOperationProps = Whose & {
  action: OperationAction
  onBegun(id: string): void
  onClose(): void
}

/** Counts the tasks that an action can be done with, says how many they are, and asks before it is. */
export const AskOperation = ({ action, chosen, onBegun, onClose }: AskOperationProps) => {
  const { about, dismiss } = ACTIONS[action]
  const counting = useQuery({
    queryKey: ['operation', 'count', action, chosen],
    queryFn: async () => {
      const body = { ...operationBody(action, chosen), dry_run: true }
      return (await responseOf(postPath('/operations', { body }))) as { matched: number }
    },
    gcTime: 0,
    staleTime: Infinity,
  })
  const { matched = 0 } = counting.data ?? {}
  if (matched === 0)
    return (
      <Dialog title={nameOperation(action)} onClose={onClose}>
        <Show query={counting}>{() => <p>{t('None of these tasks allows that.')}</p>}</Show>
      </Dialog>
    )
  const what = nameOperation(action, matched)
  return (
    <Ask
      title={`${what}?`}
      action={what}
      dismiss={dismiss}
      variant={isDestructive(action) ? 'danger' : 'primary'}
      typed={action === 'delete' ? String(matched) : undefined}
      write={() => begin(action, { chosen })}
      refresh={['operation']}
      onDone={onBegun}
      onClose={onClose}
    >
      {!('task_ids' in chosen) && (
        <p>
          {rich('{count, plural, one {# task} other {# tasks}} with {filter}.', {
            count: matched,
            filter: <Bdi as="strong">{describeFilter(chosen) || t('no filter')}</Bdi>,
          })}
        </p>
      )}
      <p>{about}</p>
    </Ask>
  )
}

interface OperationProgressProps {
  id: string
  /** Messages by the ids of tasks that it could not be done with. */
  onEnd(rejected: Readonly<Record<string, string>>): void
}

/** Progress of an operation, which goes on when the page is closed, and the button that stops it. */
export const OperationProgress = ({ id, onEnd }: OperationProgressProps) => {
  const queries = useQueryClient()
  const { data } = useQuery({
    ...operationQuery(id),
    refetchInterval: ({ state }) => (state.data && hasEnded(state.data) ? false : POLL_MS),
  })
  useQuery({
    queryKey: ['operations', id, 'rejected'],
    enabled: data !== undefined && hasEnded(data),
    staleTime: Infinity,
    queryFn: async () => {
      const lines = await readLines<OperationLine>(`/operations/${id}/results`)
      const rejected = lines.flatMap(({ task_id: task, error }) =>
        error ? [[task, error.message] as const] : [],
      )
      onEnd(Object.fromEntries(rejected))
      await queries.invalidateQueries({ queryKey: ['newest'] })
      return null
    },
  })
  if (!data) return null
  return (
    <Row>
      <span className="soft small">{describe(data)}</span>
      <Link to="/tasks/bulk" search={{ tab: 'operations', id }} className="small">
        {t('Details')}
      </Link>
      {!hasEnded(data) && <Stoppable operation={data} />}
    </Row>
  )
}

/** Progress of an operation that goes on, and the button that stops it. */
export const Stoppable = ({ operation }: { operation: Operation }) => {
  const { operation_id: id, total, counts, state } = operation
  const taken = counts.done + counts.rejected
  return (
    <>
      <Progress label={t('Progress')} part={total === 0 ? undefined : taken / total} />
      <WriteButton
        label={t('Stop')}
        isDisabled={state === 'cancelling'}
        write={() => send('POST', '/operations/{id}/cancel', { path: { id }, body: {} })}
        refresh={operationQuery(id).queryKey}
      />
    </>
  )
}

export const describe = ({ action, state, total, counts }: Operation): string => {
  const { done, rejected, not_done: left } = counts
  if (state === 'preparing') return t('Finding tasks')
  if (state === 'running') return t('{taken} of {total} tasks', { taken: done + rejected, total })
  const words = [
    t(ACTIONS[action].done, { count: done }),
    rejected > 0 && t('{rejected} could not be', { rejected }),
    left > 0 && t('{left} unchanged', { left }),
  ]
  return words.filter(Boolean).join(', ')
}
