import { useQueryClient } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useState } from 'react'

import { ownLink } from '../api/links.ts'
import { buttonClass } from '../ui/button.tsx'
import { LinkButton } from '../ui/link.tsx'
import { Row, Stack } from '../ui/page.tsx'
import { Note } from '../ui/panels.tsx'
import { Bytes, Time } from '../ui/values.tsx'
import { BeforeAfter } from './before-after.tsx'
import { taskKey } from './queries.ts'
import styles from './result.module.css'
import type { TaskDetail } from './types.ts'

const COVER = 'cover.jpg'

/** What a task has made, beside what it was made of. */
export const Result = ({ task }: { task: TaskDetail }) => {
  const broken = useBroken(task)
  const [main] = task.results
  if (task.purged_at !== undefined)
    return (
      <Note>
        Its files were removed by age <Time at={task.purged_at} />. Send it again to make them anew.
      </Note>
    )
  const src = ownLink(main?.url)
  if (!main || src === undefined) return <Note>There is no file to show.</Note>
  return (
    <Stack>
      {broken.isBroken && <Note tone="warn">A file does not load. Its link may have expired.</Note>}
      {task.family === 'video' ? (
        <Video task={task} src={src} onBroken={broken.report} />
      ) : (
        <BeforeAfter
          key={src}
          before={ownLink(task.inputs.find(({ field }) => field.startsWith('image'))?.url)}
          after={src}
          onBroken={broken.report}
        />
      )}
      <Row>
        {task.results
          .filter(({ name }) => name !== COVER)
          .map((file) => (
            <a
              key={file.name}
              className={buttonClass()}
              href={ownLink(file.url)}
              download={`${task.task_id}-${file.name}`}
            >
              <Download aria-hidden />
              {file.name}
              {file.bytes !== undefined && <Bytes count={file.bytes} />}
            </a>
          ))}
        {task.family === 'video' && (
          <LinkButton to="/try/$kind" params={{ kind: 'extend' }} search={{ from: task.task_id }}>
            Extend
          </LinkButton>
        )}
      </Row>
    </Stack>
  )
}

interface VideoProps {
  task: TaskDetail
  src: string
  onBroken(): void
}

const Video = ({ task, src, onBroken }: VideoProps) => (
  // oxlint-disable-next-line jsx-a11y/media-has-caption -- What a model makes has no captions.
  <video
    key={src}
    className={styles.video}
    controls
    loop
    playsInline
    preload="metadata"
    poster={ownLink(task.results.find(({ name }) => name === COVER)?.url)}
    src={src}
    onError={onBroken}
  />
)

/** Links live a day: the task is read once more for fresh ones. */
const useBroken = ({ task_id: id }: TaskDetail): { isBroken: boolean; report(): void } => {
  const queries = useQueryClient()
  const [count, setCount] = useState(0)
  const report = (): void => {
    if (count === 0) void queries.invalidateQueries({ queryKey: taskKey(id), exact: true })
    setCount(count + 1)
  }
  return { isBroken: count > 1, report }
}
