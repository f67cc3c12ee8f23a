import type { TaskRow } from '../../db/task/task-list.ts'
import { IMAGE_PREFIX } from '../../domain/image-task/image-kind.ts'
import type { TaskItem } from '../../domain/task/task-item.ts'
import { THUMBNAIL } from '../../domain/task/thumbnail.ts'
import type { TaskDeps } from '../task/deps.ts'
import { VIDEO_PREFIX } from '../video-task/video-path.ts'

/** A task as lists, streams and its own route show it. */
export const toItem = (
  { signer, now }: Pick<TaskDeps, 'signer' | 'now'>,
  task: TaskRow,
  isAdmin = false,
): TaskItem => ({
  task_id: task.id,
  kind: task.kind,
  family: task.family,
  state: task.state,
  status: task.status as TaskItem['status'],
  rev: task.rev,
  created_at: task.createdAt.toISOString(),
  ...(task.startedAt && { started_at: task.startedAt.toISOString() }),
  ...(task.endedAt && { ended_at: task.endedAt.toISOString() }),
  progress: task.state === 'done' ? 100 : task.progress,
  ...(task.prompt && { prompt: task.prompt }),
  ...(task.engine && { engine: task.engine }),
  credits: task.credits,
  ...(task.error && { error: task.error }),
  ...(task.hasThumbnail && { thumbnail_url: signer.signFile(task.id, THUMBNAIL, now()) }),
  cancellable: task.family === 'video' ? !isBegun(task) : task.endedAt === null,
  path: pathOf(task),
  ...(isAdmin && { owner: task.owner }),
})

/** A video may be cancelled until a worker has taken it. */
const isBegun = ({ state }: TaskRow): boolean => state !== 'waiting' && state !== 'queued'

const pathOf = ({ family, segment, id }: TaskRow): string =>
  family === 'video' ? `${VIDEO_PREFIX}/tasks/${id}` : `${IMAGE_PREFIX}/${segment}/${id}`
