import { useQuery, useQueryClient } from '@tanstack/react-query'

import { post as postPath, readLines } from './queries.ts'
import { readQuery, responseOf, send } from '../api/client.ts'
import type { OperationLine } from '../../../client/src/index.ts'
import type { Data } from '../api/schema.ts'
import { Ask, WriteButton } from '../ui/ask.tsx'
import { Dialog } from '../ui/layers.tsx'
import { Link } from '../ui/link.tsx'
import { Row, Show } from '../ui/panels.tsx'
import { Bdi, Progress } from '../ui/values.tsx'
import { counted } from '../words/text.ts'
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

/** Each action on some tasks, with its effect. */
const ACTIONS: Record<
  OperationAction,
  { name(tasks: string): string; about: string; isDestructive?: true; dismiss?: string }
> = {
  cancel: {
    name: (tasks) => `Cancel ${tasks}`,
    about: 'Unfinished tasks stop without a result; their credits are refunded.',
    isDestructive: true,
    dismiss: 'Keep running',
  },
  run_again: {
    name: (tasks) => `Run ${tasks} again`,
    about: 'Each makes a new task from its request, which costs what that costs.',
  },
  redeliver: {
    name: (tasks) => `Resend events of ${tasks}`,
    about: 'Events that no webhook URL took are sent once more, with the same ids.',
  },
  delete: {
    name: (tasks) => `Delete ${tasks}`,
    about:
      'Their inputs, results and prompts are removed, and links to them end. Unfinished tasks are cancelled first. This can’t be undone.',
    isDestructive: true,
  },
}

/** `Cancel 60 tasks`. */
export const nameOperation = (action: OperationAction, tasks: string): string =>
  ACTIONS[action].name(tasks)

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
      <Dialog title={nameOperation(action, 'tasks')} onClose={onClose}>
        <Show query={counting}>{() => <p>That can be done with none of these tasks.</p>}</Show>
      </Dialog>
    )
  const tasks = counted(matched, 'task')
  const what = nameOperation(action, tasks)
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
          {tasks} with <Bdi as="strong">{describeFilter(chosen) || 'no filter'}</Bdi>.
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
        Details
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
      <Progress label="Progress" part={total === 0 ? undefined : taken / total} />
      <WriteButton
        label="Stop"
        isDisabled={state === 'cancelling'}
        write={() => send('POST', '/operations/{id}/cancel', { path: { id }, body: {} })}
        refresh={operationQuery(id).queryKey}
      />
    </>
  )
}

const DONE = {
  cancel: 'cancelled',
  run_again: 'run again',
  redeliver: 'with events resent',
  delete: 'deleted',
}

export const describe = ({ action, state, total, counts }: Operation): string => {
  const { done, rejected, not_done: left } = counts
  if (state === 'preparing') return 'Finding tasks'
  if (state === 'running') return `${done + rejected} of ${total} tasks`
  const words = [
    `${counted(done, 'task')} ${DONE[action]}`,
    rejected > 0 && `${rejected} could not be`,
    left > 0 && `${left} left as they are`,
  ]
  return words.filter(Boolean).join(', ')
}
