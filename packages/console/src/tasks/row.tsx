import { inPlainWords } from '../api/issues.ts'
import { ownLink } from '../api/links.ts'
import { titleOf } from '../try/kinds.ts'
import { Link, taskPage } from '../ui/link.tsx'
import { Badge, Bdi, Progress, StateBadge, Tile, Time } from '../ui/values.tsx'
import { t } from '../words/translate.ts'
import { aboutTime } from './timeline.ts'
import type { TaskItem } from './types.ts'
import styles from './tasks.module.css'

/** Pixels. */
export const HEIGHT = 72

interface TaskRowProps {
  task: TaskItem
  /** Why an action on it was rejected. */
  outcome: string | undefined
  isChosen: boolean
  onChoose(isChosen: boolean): void
}

const secondsTo = (start: string, end: string): number =>
  (Date.parse(end) - Date.parse(start)) / 1000

export const TaskRow = ({ task, outcome, isChosen, onChoose }: TaskRowProps) => {
  const { kind, state, error, credits, labels = {}, created_at: from, ended_at: to } = task
  const { started_at: began = to ?? from } = task
  const title = titleOf(kind)
  const time =
    to && aboutTime({ waited: secondsTo(from, began), ran: Math.max(0, secondsTo(began, to)) })
  const sentence = state === 'failed' ? error?.message : task.waits_for
  const message = sentence && inPlainWords(sentence)
  const wide = 'soft small cut screen'
  const isState = outcome === undefined || outcome === 'cancelled'
  return (
    <div className={styles.task}>
      <span className={styles.check}>
        {task.deleted_at === undefined && (
          // Rows are drawn by the thousand while one scrolls; the browser's own costs nothing.
          <input
            type="checkbox"
            aria-label={t('Choose {title}', { title })}
            checked={isChosen}
            onChange={({ currentTarget }) => onChoose(currentTarget.checked)}
          />
        )}
      </span>
      <Tile src={ownLink(task.thumbnail_url)} name={title} size={48} />
      <span className={`stack ${styles.what}`}>
        <span className={styles.title}>
          <Link {...taskPage(task.task_id)} className="row-link">
            {title}
          </Link>
          {Object.entries(labels).map(([key, value]) => (
            <Badge key={key}>{`${key}: ${value}`}</Badge>
          ))}
        </span>
        <Bdi as="span" className="soft small cut">
          {task.prompt}
        </Bdi>
        {message && (
          <Bdi
            as="span"
            className={`small cut ${state === 'failed' ? 'bad' : 'soft'}`}
            title={message}
          >
            {message}
          </Bdi>
        )}
      </span>
      <span className={`stack ${styles.how}`}>
        {isState ? <StateBadge state={outcome ?? state} /> : <Bdi>{outcome}</Bdi>}
        {state === 'running' && (task.family === 'video' || task.progress > 0) && (
          <Progress label={t('{title}, progress', { title })} part={task.progress / 100} />
        )}
      </span>
      <Bdi
        as="span"
        className={wide}
        title={
          task.owner !== undefined
            ? t('Owner')
            : task.family === 'video'
              ? t('Model')
              : t('Engine setting')
        }
      >
        {task.owner ?? (task.engine === 'automatic' ? '' : task.engine)}
      </Bdi>
      <span className={wide}>
        {credits > 0 && t('{count, plural, one {# credit} other {# credits}}', { count: credits })}
      </span>
      <span className={`stack ${styles.what}`}>
        <Time at={from} />
        <span className="soft small screen">{time}</span>
      </span>
    </div>
  )
}
