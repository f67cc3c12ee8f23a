import { useQuery } from '@tanstack/react-query'

import { ownLink } from '../api/links.ts'
import { StateBadge } from '../ui/badge.tsx'
import { Link, LinkButton } from '../ui/link.tsx'
import { Empty, Panel, Show } from '../ui/panels.tsx'
import { Tile } from '../ui/picture.tsx'
import { Bdi } from '../ui/text.tsx'
import { Progress, Time } from '../ui/values.tsx'
import { titleOf } from '../try/kinds.ts'
import styles from './home.module.css'
import { runningQuery } from './queries.ts'
import type { TaskItem } from './queries.ts'

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
              <li key={task.task_id} className={styles.task}>
                <Row task={task} />
              </li>
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
    <>
      <Tile src={ownLink(task.thumbnail_url)} name={name} />
      <div>
        <Link to="/tasks/$task" params={{ task: id }}>
          {name}
        </Link>
        {prompt && (
          <p className={styles.prompt}>
            <Bdi>{prompt}</Bdi>
          </p>
        )}
        <p className={styles.soft}>
          {owner && <Bdi>{`${owner}, `}</Bdi>}
          <Time at={made} />
        </p>
      </div>
      <div>
        <StateBadge state={status} suffix={progress > 0 ? `${progress} %` : ''} />
        {progress > 0 && <Progress part={progress / 100} label={`Progress of ${name}`} />}
      </div>
    </>
  )
}
