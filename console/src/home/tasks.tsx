import { queryOptions, useQuery, type QueryClient } from '@tanstack/react-query'

import { read, readQuery } from '../api/client.ts'
import { ownLink } from '../api/links.ts'
import type { TaskItem } from '../tasks/list-rows.ts'
import { titleOf } from '../try/kinds.ts'
import { Link, LinkButton, taskPage } from '../ui/link.tsx'
import { Empty, Panel, Show } from '../ui/panels.tsx'
import { Bdi, Progress, StateBadge, Tile, Time } from '../ui/values.tsx'
import styles from './home.module.css'

/** The newest tasks that have not ended. */
export const Running = ({ ofAll }: { ofAll: boolean }) => (
  <Panel
    title={ofAll ? 'Running now, of all owners' : 'Running now'}
    actions={<Link to="/tasks">All tasks</Link>}
  >
    <Show query={useQuery(runningQuery(ofAll))}>
      {(tasks) =>
        tasks.length === 0 ? (
          <Empty>
            <p>Nothing runs.</p>
            <LinkButton to="/try">Try something</LinkButton>
          </Empty>
        ) : (
          <ul>
            {tasks.map((task) => (
              <Row key={task.task_id} task={task} />
            ))}
          </ul>
        )
      }
    </Show>
  </Panel>
)

const Row = ({ task }: { task: TaskItem }) => {
  const { task_id: id, kind, prompt, status, progress, created_at: made, owner } = task
  const name = titleOf(kind)
  return (
    <li className={styles.task}>
      <Tile src={ownLink(task.thumbnail_url)} name={name} />
      <div>
        <Link {...taskPage(id)}>{name}</Link>
        <Bdi as="p" className="cut">
          {prompt}
        </Bdi>
        <p className="soft small">
          {owner && <Bdi>{`${owner}, `}</Bdi>}
          <Time at={made} />
        </p>
      </div>
      <div>
        <StateBadge state={status} suffix={progress > 0 ? `${progress} %` : ''} />
        {progress > 0 && <Progress part={progress / 100} label={`Progress of ${name}`} />}
      </div>
    </li>
  )
}

export const Last = ({ tasks }: { tasks: readonly TaskItem[] }) => (
  <Panel title="Lately">
    <ul className={styles.last}>
      {tasks.map(({ task_id: id, kind, state, status, thumbnail_url: picture, ended_at: at }) => (
        <li key={id}>
          <Link {...taskPage(id)}>
            <Tile src={ownLink(picture)} name={kind} size={96} />
            {titleOf(kind)}
          </Link>
          <span className="soft small">
            {state === 'done' ? <Time at={at} /> : <StateBadge state={status} />}
          </span>
        </li>
      ))}
    </ul>
  </Panel>
)

const SHOWN = 8
const OPEN: TaskItem['state'][] = ['waiting', 'queued', 'running']

/** What runs now, newest first; of all owners for platform admins. */
const runningQuery = (ofAll: boolean) =>
  queryOptions({
    queryKey: ['tasks', { state: OPEN, ofAll }],
    queryFn: async ({ signal }): Promise<TaskItem[]> => {
      const query = { state: OPEN, limit: SHOWN }
      return (await read(ofAll ? '/admin/tasks' : '/tasks', { query }, signal)).tasks
    },
    // Those of others have no stream.
    ...(ofAll && { refetchInterval: 5000 }),
  })

/** A task as the stream tells of it: where it stands, gone once it is over, first when it is new. */
export const putTask = (queries: QueryClient, task: TaskItem): void => {
  queries.setQueryData(runningQuery(false).queryKey, (before = []) => {
    const old = before.find(({ task_id: id }) => id === task.task_id)
    if (old !== undefined && old.rev > task.rev) return before
    const others = before.filter((other) => other !== old)
    if (!OPEN.includes(task.state)) return others
    return [...others, task]
      .toSorted((a, b) => b.created_at.localeCompare(a.created_at))
      .slice(0, SHOWN)
  })
}

export const summaryQuery = readQuery('/tasks/summary', {})

/** What has ended last; none: the caller is new here. */
export const lastQuery = readQuery('/tasks', { query: { state: ['done', 'failed'], limit: 6 } })

/** Versions of the caller's own nodes that are held back, of the newest hundred of all. */
export const heldBackQuery = queryOptions({
  queryKey: ['held-back'],
  queryFn: async ({ signal }) => {
    const publishers = await read('/users/publishers/', {}, signal)
    const query = { limit: 100 }
    // Nobody reads the nodes of a banned one.
    const active = publishers.filter(({ status }) => status === 'PublisherStatusActive')
    const nodes = await Promise.all(
      active
        .slice(0, 5)
        .map(({ id: publisherId }) =>
          read('/publishers/{publisherId}/nodes/v2', { path: { publisherId }, query }, signal),
        ),
    )
    const own = new Set(nodes.flatMap((page) => page.nodes.map(({ id }) => id)))
    if (own.size === 0) return []
    const { versions } = await read(
      '/versions',
      { query: { statuses: ['NodeVersionStatusFlagged'], pageSize: 100 } },
      signal,
    )
    return versions.filter((version) => own.has(version.node_id))
  },
})

/** Requests for a review that wait for platform admins. */
export const reviewsQuery = readQuery('/versions', {
  query: { statuses: ['NodeVersionStatusFlagged'], review_requested: true, pageSize: 1 },
})

/** `/ready` answers 503 with the same body when the service is not. */
export const readyQuery = readQuery('/ready', {}, { refetchInterval: 5000 })
