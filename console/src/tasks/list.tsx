import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'

import { useStream } from '../api/stream.ts'
import { Ask } from '../ui/ask.tsx'
import { Button } from '../ui/button.tsx'
import { LinkButton, taskPage } from '../ui/link.tsx'
import { EndlessList } from '../ui/list.tsx'
import { Empty, PageTitle, Show } from '../ui/panels.tsx'
import { useChangeSearch } from '../ui/address.ts'
import { counted } from '../words/text.ts'
import { Filters } from './filters.tsx'
import { findNew, patchPages, type TaskFilter } from './list-rows.ts'
import type { TaskItem } from './types.ts'
import { askTasks, cancelTask, tasksQuery } from './queries.ts'
import { HEIGHT, TaskRow } from './row.tsx'
import styles from './tasks.module.css'

/** Seconds between two looks at others' tasks, of which there is no stream. */
const POLL_SECONDS = 5
/** How many cancellations are under way at once. */
const AT_ONCE = 4

export const Page = () => {
  const filter = useSearch({ from: '/tasks' })
  const change = useChangeSearch()
  const actions = (
    <LinkButton to="/try" look="primary">
      New task
    </LinkButton>
  )
  return (
    <>
      <PageTitle actions={actions}>Tasks</PageTitle>
      <Filters filter={filter} onChange={(changes) => change({ ...changes })} />
      <TaskList key={JSON.stringify(filter)} filter={filter} />
    </>
  )
}

const TaskList = ({ filter }: { filter: TaskFilter }) => {
  const list = useInfiniteQuery(tasksQuery(filter))
  const navigate = useNavigate()
  const { outcomes, cancel } = useCancelMany()
  const [chosen, setChosen] = useState<ReadonlyMap<string, TaskItem>>(new Map())
  const [asked, setAsked] = useState<readonly TaskItem[]>([])
  const news = useNews(filter)
  const choose = (task: TaskItem, isChosen: boolean): void => {
    const next = new Map(chosen)
    if (isChosen) next.set(task.task_id, task)
    else next.delete(task.task_id)
    setChosen(next)
  }
  const what = `Cancel ${counted(asked.length, 'task')}`
  return (
    <>
      <div className={`row ${styles.above}`} role="status">
        {news.count > 0 && (
          <Button onPress={() => void news.show()}>{counted(news.count, 'new task')}</Button>
        )}
        {chosen.size > 0 && (
          <Button look="danger" onPress={() => setAsked([...chosen.values()])}>
            Cancel {counted(chosen.size, 'task')}
          </Button>
        )}
      </div>
      <Show query={{ ...list, error: list.data ? null : list.error }}>
        {({ pages }) => {
          const rows = pages.flatMap(({ tasks }) => tasks)
          if (rows.length === 0 && !list.hasNextPage) return <Nothing filter={filter} />
          return (
            <EndlessList
              label="Tasks"
              rows={rows}
              keyOf={({ task_id: id }) => id}
              height={HEIGHT}
              query={list}
              onTop={() => void news.show()}
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
                  outcome={outcomes.get(task.task_id)}
                  isChosen={chosen.has(task.task_id)}
                  onChoose={(isChosen) => choose(task, isChosen)}
                />
              )}
            </EndlessList>
          )
        }}
      </Show>
      {asked.length > 0 && (
        <Ask
          title={`${what}?`}
          action={what}
          dismiss="Keep running"
          look="danger"
          write={async () => void cancel(asked)}
          onDone={() => setChosen(new Map())}
          onClose={() => setAsked([])}
        >
          <p>What has not ended ends without a result, and its credits are given back.</p>
        </Ask>
      )}
    </>
  )
}

const Nothing = ({ filter }: { filter: TaskFilter }) => (
  <Empty>
    {Object.values(filter).some(Boolean)
      ? 'No task is like that. Take a filter away.'
      : 'There is no task yet. New task makes the first one.'}
  </Empty>
)

/** Cancels a few at once; what came of each stands in its row. */
const useCancelMany = () => {
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, string>>(new Map())
  const note = (id: string, outcome: string): void =>
    setOutcomes((old) => new Map(old).set(id, outcome))
  const cancel = async (tasks: readonly TaskItem[]): Promise<void> => {
    const left = [...tasks]
    for (const { task_id: id } of left) note(id, 'cancelling …')
    const work = async (): Promise<void> => {
      for (let task = left.shift(); task; task = left.shift()) {
        const refusal = await cancelTask(task).catch((error: Error) => error)
        note(task.task_id, refusal instanceof Error ? refusal.message : 'cancelled')
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
  }
  return { outcomes, cancel }
}

/** Keeps the rows up to date, and counts what is new above them: rows never jump under the pointer. */
const useNews = (filter: TaskFilter) => {
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
  const look = async (): Promise<number> => {
    take((await askTasks(filter)).tasks)
    return POLL_SECONDS
  }
  const isOwn = filter.owner === undefined
  useStream({
    path: isOwn ? '/tasks/stream' : undefined,
    onEvent: ({ event, data }) => event === 'task' && take([data as TaskItem]),
    poll: look,
  })
  useEffect(() => {
    const lookQuietly = (): void => void (document.hidden || look().catch(() => {}))
    // What has ended while another page was seen, the stream does not tell.
    if (queries.getQueryData(queryKey)) lookQuietly()
    const timer = isOwn ? undefined : setInterval(lookQuietly, POLL_SECONDS * 1000)
    return () => clearInterval(timer)
    // The list is another for each filter.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [])
  const show = async (): Promise<void> => {
    await queries.resetQueries({ queryKey })
    setFresh(new Set())
    window.scrollTo({ top: 0 })
  }
  return { count: fresh.size, show }
}
