import { getImageFacts } from '../src/db/image-task/image-task.ts'
import type { BegunAttempt } from '../src/db/event/attempt.ts'
import { getVideoFacts } from '../src/db/video-task/video-task.ts'
import { imageFactsAt, makeImageRecord } from '../src/domain/image-task/image-record.ts'
import type { ImageTaskStatus } from '../src/domain/image-task/image-task.ts'
import { makeVideoCreations, videoFactsAt } from '../src/domain/video-task/video-record.ts'
import type { VideoTaskState } from '../src/domain/video-task/video-task.ts'
import type { DeliveryDependencies } from './dependencies.ts'

/**
 * What a receiver is told: the flat record of an image task, the creations body of a video task, with the values of the
 * move. Links are signed now, so that a late delivery carries ones that work.
 */
export const makeEventBody = async (
  { sql, signer, now }: DeliveryDependencies,
  { taskId, family, status }: BegunAttempt,
): Promise<object> => {
  const sign = (name: string): string => signer.signFile(taskId, name, now())
  return family === 'image'
    ? makeImageRecord(
        imageFactsAt(await getImageFacts(sql, taskId), status as ImageTaskStatus),
        sign,
      )
    : makeVideoCreations(
        videoFactsAt(await getVideoFacts(sql, taskId), status as VideoTaskState),
        sign,
      )
}
