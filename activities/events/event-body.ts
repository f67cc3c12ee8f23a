import { listImageFacts } from '../../src/tasks/db/image/image-task.ts'
import type { SentEvent } from '../../src/events/db/attempt.ts'
import { listVideoFacts } from '../../src/tasks/db/video/video-task.ts'
import { makeSlackBody } from '../../src/events/domain/slack.ts'
import { taskStatusOf } from '../../src/events/domain/endpoint.ts'
import { imageFactsAt, makeImageRecord } from '../../src/tasks/domain/image/image-task.ts'
import type { ImageTaskStatus } from '../../src/tasks/domain/image/image-task.ts'
import { makeVideoCreations, videoFactsAt } from '../../src/tasks/domain/video/video-record.ts'
import type { VideoTaskState } from '../../src/tasks/domain/video/video-task.ts'
import type { Labels } from '../../src/tasks/domain/task-options.ts'
import { makeBatch } from '../../src/platform/db/batch.ts'
import type { DeliveryDependencies } from './dependencies.ts'

/** A payload may have a MiB. */
const VIDEOS_AT_ONCE = 16

/**
 * Makes the function that makes the body of a webhook: the flat record of an image task, the creations body of a video
 * task, with the values of the transition. A webhook subscription gets type, time, subject, labels and data: that, or what the
 * transition wrote. Links are signed at the call, so that a late delivery carries ones that work.
 */
export const makeEventBody = ({ sql, signer, now }: DeliveryDependencies) => {
  const findImage = makeBatch(async (ids: readonly string[]) =>
    inOrder(ids, await listImageFacts(sql, ids)),
  )
  const findVideo = makeBatch(
    async (ids: readonly string[]) => inOrder(ids, await listVideoFacts(sql, ids)),
    VIDEOS_AT_ONCE,
  )
  const ofTask = async ({ taskId, family, status }: TaskAt): Promise<Shown> => {
    const sign = (name: string): string => signer.signFile(taskId, name, now())
    if (family === 'image') {
      const facts = imageFactsAt(await findImage(taskId), status as ImageTaskStatus)
      return { data: makeImageRecord(facts, sign), labels: facts.labels }
    }
    const facts = videoFactsAt(await findVideo(taskId), status as VideoTaskState)
    return { data: makeVideoCreations(facts, sign), labels: facts.labels }
  }
  return async ({ taskId, family, status, endpoint }: SentEvent): Promise<object> => {
    if (endpoint === null) return (await ofTask({ taskId, family, status })).data
    const { subjectId, data, at, format } = endpoint
    if (format === 'slack') return makeSlackBody(status, data)
    const shown =
      subjectId !== null && family !== null
        ? await ofTask({ taskId: subjectId, family, status: taskStatusOf(status) })
        : { data, labels: null }
    const timestamp = new Date(at).toISOString()
    return {
      type: status,
      timestamp,
      ...(subjectId !== null && { subject_id: subjectId }),
      ...(shown.labels && { labels: shown.labels }),
      data: shown.data,
    }
  }
}

/** Body of a webhook, and the labels of its task for subscribers to many tasks. */
interface Shown {
  data: object
  labels: Labels | null
}

type TaskAt = Pick<SentEvent, 'taskId' | 'family' | 'status'>

const inOrder = <Row extends { id: string }>(
  ids: readonly string[],
  rows: readonly Row[],
): Row[] => {
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.map((id) => {
    const row = byId.get(id)
    if (!row) throw new Error('a task that is not there')
    return row
  })
}
