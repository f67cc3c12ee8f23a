import { useQuery, useQueryClient } from '@tanstack/react-query'

import { post as postPath, readLines } from './queries.ts'
import { readQuery, responseOf, send } from '../api/client.ts'
import type { OperationLine } from '../../../client/src/index.ts'
import type { Data } from '../api/schema.ts'
import { Ask, WriteButton } from '../ui/ask.tsx'
import { Link } from '../ui/link.tsx'
import { Row } from '../ui/panels.tsx'
import { Bdi, Progress } from '../ui/values.tsx'
import { counted } from '../words/text.ts'
import { cancelBody, describeFilter, type Chosen } from './filter.ts'

export type Operation = Data<'/operations/{id}'>

const POLL_MS = 1000

const operationQuery = (id: string) => readQuery('/operations/{id}', { path: { id } })

const hasEnded = ({ ended_at: at }: Operation): boolean => at !== undefined

/** Begins to cancel; returns the id of the operation. */
const cancelTasks = async (chosen: Chosen & { owner?: string }): Promise<string> => {
  const made = await responseOf(postPath('/operations', { body: cancelBody(chosen) }))
  return (made as { operation_id: string }).operation_id
}

interface AskCancelProps {
  chosen: Chosen & { owner?: string }
  onBegun(id: string): void
  onClose(): void
}

/** Asks before tasks are cancelled, and says how many they are. */
export const AskCancel = ({ chosen, onBegun, onClose }: AskCancelProps) => {
  const { data } = useQuery({
    queryKey: ['operation', 'count', chosen],
    queryFn: () =>
      responseOf(postPath('/operations', { body: { ...cancelBody(chosen), dry_run: true } })),
    gcTime: 0,
    staleTime: Infinity,
  })
  const known = 'task_ids' in chosen ? chosen.task_ids.length : undefined
  const { matched } = (data ?? {}) as { matched?: number }
  const count = known ?? matched
  const tasks = count === undefined ? 'all tasks' : counted(count, 'task')
  const what = `Cancel ${tasks}`
  return (
    <Ask
      title={`${what}?`}
      action={what}
      dismiss="Keep running"
      variant="danger"
      write={() => cancelTasks(chosen)}
      refresh={['operation']}
      onDone={onBegun}
      onClose={onClose}
    >
      {!('task_ids' in chosen) && (
        <p>
          {tasks} with <Bdi as="strong">{describeFilter(chosen)}</Bdi>.
        </p>
      )}
      <p>Unfinished tasks stop without a result; their credits are refunded.</p>
    </Ask>
  )
}

interface OperationProgressProps {
  id: string
  /** Messages by the ids of tasks that could not be cancelled. */
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
