import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo, useState } from 'react'

import { useStream } from '../api/stream.ts'
import { Button } from '../ui/button.tsx'
import { Link, LinkButton, taskPage } from '../ui/link.tsx'
import { Checkbox } from '../ui/fields.tsx'
import { EndlessList } from '../ui/list.tsx'
import { Empty, PageTitle, Show } from '../ui/panels.tsx'
import { t } from '../words/translate.ts'
import type { Chosen, OperationAction } from './filter.ts'
import { Filters, OPEN } from './filters.tsx'
import { findNew, patchPages, type TaskFilter } from './list-rows.ts'
import { AskOperation, isDestructive, nameOperation, OperationProgress } from './operation.tsx'
import { askTasks, tasksQuery } from './queries.ts'
import { HEIGHT, TaskRow } from './row.tsx'
import styles from './tasks.module.css'
import type { TaskItem } from './types.ts'

/** Milliseconds between polls of others' tasks, of which there is no stream. */
const POLL_MS = 5000

export const Page = () => {
  const filter = useSearch({ from: '/tasks' })
  const actions = (
    <>
      <LinkButton to="/tasks/bulk">{t('Batches and operations')}</LinkButton>
      <LinkButton to="/try" variant="primary">
        {t('New task')}
      </LinkButton>
    </>
  )
  return (
    <>
      <PageTitle actions={actions}>{t('Tasks')}</PageTitle>
      <Filters />
      <TaskList key={JSON.stringify(filter)} filter={filter} />
    </>
  )
}

const NONE_LIKE_THAT = t('No tasks match. Clear a filter.')
const NONE_YET = (
  <p>
    {t('No tasks yet.')} <Link to="/try">{t('Create your first one.')}</Link>
  </p>
)

const TaskList = ({ filter }: { filter: TaskFilter }) => {
  const list = useInfiniteQuery(tasksQuery(filter))
  const navigate = useNavigate()
  const [outcomes, setOutcomes] = useState<Readonly<Record<string, string>>>({})
  const [operation, setOperation] = useState<string>()
  const [chosen, setChosen] = useState<readonly TaskItem[]>([])
  /** All that match, not only those that were chosen one by one. */
  const [isWhole, setWhole] = useState(false)
  const [asked, setAsked] = useState<{ action: OperationAction; chosen: Chosen }>()
  const newTasks = useNewTasks(filter)
  const select = (tasks: readonly TaskItem[]): void => {
    setChosen(tasks)
    setWhole(false)
  }
  // The same while nothing is chosen, so that rows which come later render no others.
  const draw = useCallback(
    (task: TaskItem) => (
      <TaskRow
        task={task}
        outcome={outcomes[task.task_id]}
        isChosen={chosen.some(({ task_id: id }) => id === task.task_id)}
        onChoose={(isChosen) => {
          const others = chosen.filter(({ task_id: id }) => id !== task.task_id)
          setChosen(isChosen ? [...others, task] : others)
          setWhole(false)
        }}
      />
    ),
    [chosen, outcomes],
  )
  const { data } = list
  const rows = useMemo(() => data?.pages.flatMap(({ tasks }) => tasks) ?? [], [data])
  const choosable = rows.filter(({ deleted_at: gone }) => gone === undefined)
  const ask = (action: OperationAction, tasks: readonly TaskItem[]): void =>
    setAsked({ action, chosen: { task_ids: tasks.map(({ task_id: id }) => id) } })
  return (
    <>
      <div className={`row ${styles.above}`} role="status">
        {choosable.length > 0 && (
          <Checkbox
            label={t('Select all')}
            isSelected={choosable.length === chosen.length}
            onChange={(isAll) => select(isAll ? choosable : [])}
          />
        )}
        {newTasks.count > 0 && (
          <Button onPress={() => void newTasks.show()}>
            {t('{count, plural, one {# new task} other {# new tasks}}', { count: newTasks.count })}
          </Button>
        )}
        {chosen.length === choosable.length && chosen.length > 0 && list.hasNextPage && (
          <Checkbox label={t('All that match')} isSelected={isWhole} onChange={setWhole} />
        )}
        {chosen.length > 0 && (
          <Bulk
            tasks={chosen}
            isWhole={isWhole}
            onAsk={(action, tasks) => {
              const { state = action === 'cancel' ? OPEN : undefined } = filter
              if (isWhole) setAsked({ action, chosen: { ...filter, state } })
              else ask(action, tasks)
            }}
          />
        )}
      </div>
      {operation !== undefined && (
        <OperationProgress key={operation} id={operation} onEnd={setOutcomes} />
      )}
      <Show query={{ ...list, error: list.data ? null : list.error }}>
        {() => {
          if (rows.length === 0 && !list.hasNextPage)
            return <Empty>{Object.values(filter).some(Boolean) ? NONE_LIKE_THAT : NONE_YET}</Empty>
          return (
            <div className={choosable.length === 0 ? styles.plain : ''}>
              <EndlessList
                label={t('Tasks')}
                rows={rows}
                keyOf={({ task_id: id }) => id}
                height={HEIGHT}
                query={list}
                onTop={() => void newTasks.show()}
                onOpen={({ task_id: task }) => void navigate(taskPage(task))}
                onKey={(key, task) => {
                  if (key !== 'c' || !task.cancellable) return false
                  ask('cancel', [task])
                  return true
                }}
              >
                {draw}
              </EndlessList>
            </div>
          )
        }}
      </Show>
      {asked && (
        <AskOperation
          action={asked.action}
          chosen={{ ...asked.chosen, ...(filter.owner !== undefined && { owner: filter.owner }) }}
          onBegun={(id) => {
            select([])
            setOperation(id)
          }}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  )
}

interface BulkProps {
  tasks: readonly TaskItem[]
  isWhole: boolean
  onAsk(action: OperationAction, tasks: readonly TaskItem[]): void
}

const ACTIONS = ['cancel', 'run_again', 'redeliver', 'delete'] as const

/** Actions on the chosen tasks; the question that follows says with how many of them. */
const Bulk = ({ tasks, isWhole, onAsk }: BulkProps) =>
  ACTIONS.map((action) => {
    const chosen = action === 'cancel' ? tasks.filter(({ cancellable }) => cancellable) : tasks
    if (!isWhole && chosen.length === 0) return null
    return (
      <Button
        key={action}
        variant={isDestructive(action) ? 'danger' : undefined}
        onPress={() => onAsk(action, chosen)}
      >
        {nameOperation(action, isWhole ? undefined : chosen.length)}
      </Button>
    )
  })

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
