import { ownLink } from '../api/links.ts'
import { Link } from '../ui/link.tsx'
import { Panel } from '../ui/panels.tsx'
import { Tile } from '../ui/picture.tsx'
import { StateBadge } from '../ui/badge.tsx'
import { Time } from '../ui/values.tsx'
import { titleOf } from '../try/kinds.ts'
import styles from './home.module.css'
import type { TaskItem } from './queries.ts'

/** What has ended last, by its picture. */
export const Last = ({ tasks }: { tasks: readonly TaskItem[] }) => (
  <Panel title="Lately">
    <ul className={styles.last}>
      {tasks.map(({ task_id: id, kind, status, thumbnail_url: picture, ended_at: ended }) => (
        <li key={id}>
          <Link to="/tasks/$task" params={{ task: id }}>
            <Tile src={ownLink(picture)} name={kind} size={96} />
            {titleOf(kind)}
          </Link>
          <span className={styles.soft}>
            {status === 'COMPLETED' || status === 'success' ? (
              <Time at={ended} />
            ) : (
              <StateBadge state={status} />
            )}
          </span>
        </li>
      ))}
    </ul>
  </Panel>
)
