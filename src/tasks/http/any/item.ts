import type { TaskRow } from '../../db/task-list.ts'
import { tasksPath } from '../../domain/image/image-kind.ts'
import type { TaskItem, TaskKind } from '../../domain/task-item.ts'
import { describeWait } from '../../domain/waits-for.ts'
import { THUMBNAIL } from '../../domain/thumbnail.ts'
import { VIDEO_PREFIX } from '../../domain/video/video-path.ts'
import type { TaskReadDeps } from '../../deps.ts'

interface TaskAddress {
  id: string
  family: 'image' | 'video'
  kind: TaskKind
  segment: string
}

export const taskPath = ({ id, family, kind, segment }: TaskAddress): string =>
  family === 'video' ? `${VIDEO_PREFIX}/tasks/${id}` : `${tasksPath(kind, segment)}/${id}`

/** A task as lists, streams and its own route show it. */
export const toItem = (
  { signer, now }: Pick<TaskReadDeps, 'signer' | 'now'>,
  { item, id, owner, segment, hasThumbnail, waitsFor }: TaskRow,
  isAdmin = false,
): TaskItem => ({
  ...item,
  ...describeWait(waitsFor),
  ...(hasThumbnail && { thumbnail_url: signer.signFile(id, THUMBNAIL, now()) }),
  path: taskPath({ ...item, id, segment }),
  ...(isAdmin && { owner }),
})
