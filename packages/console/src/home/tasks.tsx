import { useQuery } from '@tanstack/react-query'

import { ownLink } from '../api/links.ts'
import type { TaskItem } from '../tasks/types.ts'
import { titleOf } from '../try/kinds.ts'
import { Link, LinkButton, taskPage } from '../ui/link.tsx'
import { Empty, Panel, Show } from '../ui/panels.tsx'
import { Bdi, Picture, Progress, StateBadge, Tile, Time } from '../ui/values.tsx'
import { t } from '../words/translate.ts'
import styles from './home.module.css'
import { runningQuery } from './queries.ts'

/** The newest tasks that have not ended. */
export const Running = ({ ofAll }: { ofAll: boolean }) => (
  <Panel
    title={ofAll ? t('Running now (all users)') : t('Running now')}
    actions={
      <Link to="/tasks" search={ofAll ? { owner: '*' } : {}}>
        {t('All tasks')}
      </Link>
    }
  >
    <Show query={useQuery(runningQuery(ofAll))}>
      {(tasks) =>
        tasks.length === 0 ? (
          <Empty>
            <p>{t('No tasks running')}</p>
            <LinkButton to="/try">{t('Try something')}</LinkButton>
          </Empty>
        ) : (
          <ul>{tasks.map(toRow)}</ul>
        )
      }
    </Show>
  </Panel>
)

const toRow = (task: TaskItem) => {
  const { task_id: id, kind, prompt, state, progress, created_at: made, owner } = task
  const name = titleOf(kind)
  return (
    <li key={id} className={styles.task}>
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
        <StateBadge state={state} suffix={progress > 0 ? `${progress} %` : ''} />
        {progress > 0 && (
          <Progress part={progress / 100} label={t('Progress of {name}', { name })} />
        )}
      </div>
    </li>
  )
}

/** The list is by creation; a long task ends after a short one that was sent later. */
const lastFirst = ({ ended_at: a = '' }: TaskItem, { ended_at: b = '' }: TaskItem): number =>
  b.localeCompare(a)

/** Tasks that were done last, by their picture. */
export const Last = ({ tasks }: { tasks: readonly TaskItem[] }) => (
  <Panel title={t('Recent tasks')} actions={<Link to="/tasks">{t('All tasks')}</Link>}>
    <ul className={styles.gallery}>
      {tasks
        .toSorted(lastFirst)
        .map(({ task_id: id, kind, thumbnail_url: picture, ended_at: at }) => (
          <li key={id}>
            <Link {...taskPage(id)} className={styles.card}>
              <Picture
                src={ownLink(picture)}
                loading="lazy"
                other={<Tile name={titleOf(kind)} size={96} />}
              />
              {titleOf(kind)}
            </Link>
            <span className="soft small">
              <Time at={at} />
            </span>
          </li>
        ))}
    </ul>
  </Panel>
)
