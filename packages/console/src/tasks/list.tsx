import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'

import { useStream } from '../api/stream.ts'
import { Ask } from '../ui/ask.tsx'
import { Button } from '../ui/button.tsx'
import { Link, LinkButton, taskPage } from '../ui/link.tsx'
import { Checkbox } from '../ui/fields.tsx'
import { EndlessList } from '../ui/list.tsx'
import { Empty, PageTitle, Show } from '../ui/panels.tsx'
import { counted } from '../words/text.ts'
import { Filters } from './filters.tsx'
import { findNew, patchPages, type TaskFilter } from './list-rows.ts'
import { askTasks, cancelTask, tasksQuery } from './queries.ts'
import { HEIGHT, TaskRow } from './row.tsx'
import styles from './tasks.module.css'
import type { TaskItem } from './types.ts'

/** Milliseconds between polls of others' tasks, of which there is no stream. */
const POLL_MS = 5000

export const Page = () => {
  const filter = useSearch({ from: '/tasks' })
  const actions = (
    <LinkButton to="/try" variant="primary">
      New task
    </LinkButton>
  )
  return (
    <>
      <PageTitle actions={actions}>Tasks</PageTitle>
      <Filters />
      <TaskList key={JSON.stringify(filter)} filter={filter} />
    </>
  )
}

const NONE_LIKE_THAT = 'No tasks match. Clear a filter.'
const NONE_YET = (
  <p>
    No tasks yet. <Link to="/try">Create your first one.</Link>
  </p>
)

const TaskList = ({ filter }: { filter: TaskFilter }) => {
  const list = useInfiniteQuery(tasksQuery(filter))
  const navigate = useNavigate()
  const { outcomes, cancelMany } = useCancelMany()
  const [chosen, setChosen] = useState<readonly TaskItem[]>([])
  const [asked, setAsked] = useState<readonly TaskItem[]>([])
  const newTasks = useNewTasks(filter)
  const choose = (task: TaskItem, isChosen: boolean): void => {
    const others = chosen.filter(({ task_id: id }) => id !== task.task_id)
    setChosen(isChosen ? [...others, task] : others)
  }
  const rows = list.data?.pages.flatMap(({ tasks }) => tasks) ?? []
  const choosable = rows.filter(({ cancellable }) => cancellable)
  const what = `Cancel ${counted(asked.length, 'task')}`
  return (
    <>
      <div className={`row ${styles.above}`} role="status">
        {choosable.length > 0 && (
          <Checkbox
            label="Select all"
            isSelected={choosable.length === chosen.length}
            onChange={(isAll) => setChosen(isAll ? choosable : [])}
          />
        )}
        {newTasks.count > 0 && (
          <Button onPress={() => void newTasks.show()}>
            {counted(newTasks.count, 'new task')}
          </Button>
        )}
        {chosen.length > 0 && (
          <Button variant="danger" onPress={() => setAsked(chosen)}>
            Cancel {counted(chosen.length, 'task')}
          </Button>
        )}
      </div>
      <Show query={{ ...list, error: list.data ? null : list.error }}>
        {() => {
          if (rows.length === 0 && !list.hasNextPage)
            return <Empty>{Object.values(filter).some(Boolean) ? NONE_LIKE_THAT : NONE_YET}</Empty>
          return (
            <div className={choosable.length === 0 ? styles.plain : ''}>
              <EndlessList
                label="Tasks"
                rows={rows}
                keyOf={({ task_id: id }) => id}
                height={HEIGHT}
                query={list}
                onTop={() => void newTasks.show()}
                onOpen={({ task_id: task }) => void navigate(taskPage(task))}
                onKey={(key, task) => {
                  if (key !== 'c' || !task.cancellable) return false
                  setAsked([task])
                  return true
                }}
              >
                {(task) => (
                  <TaskRow
                    task={task}
                    outcome={outcomes[task.task_id]}
                    isChosen={chosen.some(({ task_id: id }) => id === task.task_id)}
                    onChoose={(isChosen) => choose(task, isChosen)}
                  />
                )}
              </EndlessList>
            </div>
          )
        }}
      </Show>
      {asked.length > 0 && (
        <Ask
          title={`${what}?`}
          action={what}
          dismiss="Keep running"
          variant="danger"
          write={async () => void cancelMany(asked)}
          onDone={() => setChosen([])}
          onClose={() => setAsked([])}
        >
          <p>Unfinished tasks stop without a result; their credits are refunded.</p>
        </Ask>
      )}
    </>
  )
}

/** Cancels tasks; what came of each stands in its row. */
const useCancelMany = () => {
  const [outcomes, setOutcomes] = useState<Readonly<Record<string, string>>>({})
  const cancel = async (task: TaskItem): Promise<void> => {
    const note = (outcome: string): void =>
      setOutcomes((old) => ({ ...old, [task.task_id]: outcome }))
    note('cancelling …')
    const done = cancelTask(task).then(() => 'cancelled')
    note(await done.catch(({ message }: Error) => message))
  }
  // One after another: each waits for the lock of the same account.
  const cancelMany = async (tasks: readonly TaskItem[]): Promise<void> => {
    for (const task of tasks) await cancel(task)
  }
  return { outcomes, cancelMany }
}

/** Keeps the rows up to date, and counts what is new above them: rows never jump under the pointer. */
const useNewTasks = (filter: TaskFilter) => {
  const queries = useQueryClient()
  const { queryKey } = tasksQuery(filter)
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set())
  const take = (changed: readonly TaskItem[]): void => {
    const pages = queries.getQueryData(queryKey)
    if (!pages) return
    queries.setQueryData(queryKey, patchPages(pages, changed))
    const found = findNew(pages, filter, changed)
    if (found.length > 0) setFresh((old) => new Set([...old, ...found]))
  }
  const isOwn = filter.owner === undefined
  // The stream does not report tasks that ended while another page was open.
  const [wasKept] = useState(() => queries.getQueryData(queryKey) !== undefined)
  const { refetch: poll } = useQuery({
    queryKey: ['newest', filter],
    queryFn: async ({ signal }) => {
      take((await askTasks(filter, { signal })).tasks)
      return null
    },
    enabled: wasKept || !isOwn,
    refetchInterval: !isOwn && POLL_MS,
    gcTime: 0,
  })
  useStream({
    path: isOwn ? '/tasks/stream' : undefined,
    onEvent: ({ event, data }) => event === 'task' && take([data as TaskItem]),
    poll: async () => void (await poll()),
  })
  const show = async (): Promise<void> => {
    await queries.resetQueries({ queryKey })
    setFresh(new Set())
    window.scrollTo({ top: 0 })
  }
  return { count: fresh.size, show }
}
