import type { SchemaNames } from '../../../platform/http/openapi/schemas.ts'
import * as batch from '../../domain/bulk/batch.ts'
import * as operation from '../../domain/bulk/operation.ts'
import { IMAGE_KINDS } from '../../domain/image/image-kind.ts'
import * as image from '../../domain/image/image-task.ts'
import { SentEvent } from '../../domain/task-event.ts'
import * as task from '../../domain/task-item.ts'
import { Usage } from '../../domain/usage.ts'
import * as video from '../../domain/video/video-task.ts'

/** "skin_flexible" as "SkinFlexible". */
const toPascal = (kind: string): string =>
  kind.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Names for clients of the schemas of tasks, batches and operations. */
export const TASK_NAMES: SchemaNames = {
  ImageTask: image.ImageTaskRecord,
  ImageTaskStatus: image.ImageTaskStatus,
  ...Object.fromEntries(
    Object.values(IMAGE_KINDS).map(({ kind, body }) => [`${toPascal(kind)}Body`, body]),
  ),
  VideoTask: video.VideoCreations,
  VideoTaskState: video.VideoTaskState,
  VideoCreation: video.VideoCreation,
  TextToVideoTask: video.TextToVideoRecord,
  ExtendTask: video.ExtendRecord,
  VideoTaskPage: video.VideoTaskList,
  VideoCredits: video.VideoCredits,
  Task: task.TaskItem,
  TaskKind: task.TaskKind,
  TaskState: task.TaskState,
  TaskPage: task.TaskPage,
  TaskDetail: task.TaskDetail,
  TaskSummary: task.TaskSummary,
  TaskToken: task.TaskToken,
  Batch: batch.Batch,
  BatchLine: batch.BatchLine,
  Operation: operation.Operation,
  OperationFilter: operation.NewOperation.properties.filter,
  OperationLine: operation.OperationLine,
  Usage,
  TaskEvent: SentEvent,
  DeliveryState: SentEvent.properties.state,
  OwnerEventPage: task.OwnerEvents,
  DryRun: task.DryRun,
}
