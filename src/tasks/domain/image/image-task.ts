import { Type, type Static } from 'typebox'

import { listWarnings, type WarningFacts } from './warnings.ts'
import { DeletedAt } from '../deleted-at.ts'
import { EngineErrorText } from '../engine-error.ts'
import type { Labels } from '../task-options.ts'
import { describeWait, WaitsFor } from '../waits-for.ts'

/** Statuses of an image task and the moves between them; no other exists. */
export const ImageTaskStatus = Type.Enum(['CREATED', 'IN_PROGRESS', 'COMPLETED', 'FAILED'])
export type ImageTaskStatus = Static<typeof ImageTaskStatus>

/** For each status, those it may be reached from. */
export const IMAGE_TASK_TRANSITIONS = {
  IN_PROGRESS: ['CREATED'],
  COMPLETED: ['IN_PROGRESS'],
  FAILED: ['CREATED', 'IN_PROGRESS'],
} as const satisfies Partial<Record<ImageTaskStatus, readonly ImageTaskStatus[]>>

/** Statuses that a webhook is notified of; the CREATED event is kept, not sent. */
export const DELIVERED_STATUSES: readonly ImageTaskStatus[] = ['IN_PROGRESS', 'COMPLETED', 'FAILED']

export const TERMINAL_STATUSES: readonly ImageTaskStatus[] = ['COMPLETED', 'FAILED']

/** Sentences about a request that does not fail and may surprise. */
export const warnings = Type.Optional(
  Type.Array(Type.String(), {
    description:
      'What of the request takes no effect, and why: a prompt without a known word, the frames of an animation behind the first, a quality beside PNG.',
  }),
)

/** An image task, as every image route returns it under `data`. */
export const ImageTaskRecord = Type.Object({
  task_id: Type.String({ format: 'uuid' }),
  status: ImageTaskStatus,
  generated: Type.Array(Type.String({ format: 'uri' }), {
    description: 'Signed links to the results; empty until COMPLETED, and once deleted.',
  }),
  progress: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 99,
      description: 'Per cent rendered; absent before any is, and once it has ended.',
    }),
  ),
  deleted_at: DeletedAt,
  warnings,
  waits_for: WaitsFor,
  error: Type.Optional(
    Type.Object(
      { code: Type.String(), message: Type.String(), engine_error: EngineErrorText },
      { description: 'Only in FAILED.' },
    ),
  ),
})
export type ImageTaskRecord = Static<typeof ImageTaskRecord>

/** Values from which a record is made. */
export interface ImageTaskFacts {
  id: string
  status: ImageTaskStatus
  progress: number
  error: { code: string; message: string; engine_error?: string } | null
  deletedAt: string | null
  warnings: WarningFacts | null
  /** Reasons of machines that do not take it; null unless it waits for one. */
  waitsFor: string[] | null
  /** Names of the results, in order. */
  results: readonly string[]
  labels: Labels | null
}

/**
 * A task as callers see it.
 * @param sign makes the link to a file of the task
 */
export const makeImageRecord = (
  task: ImageTaskFacts,
  sign: (name: string) => string,
): ImageTaskRecord => {
  const found = listWarnings(task.warnings)
  return {
    task_id: task.id,
    status: task.status,
    generated: task.results.map(sign),
    ...(task.status === 'IN_PROGRESS' && task.progress > 0 && { progress: task.progress }),
    ...(task.deletedAt === null ? {} : { deleted_at: task.deletedAt }),
    ...(found.length > 0 && { warnings: found }),
    ...describeWait(task.waitsFor),
    ...(task.error === null ? {} : { error: task.error }),
  }
}

/** The facts of a task as they were when it moved to a status. Results and error come only with its end. */
export const imageFactsAt = (task: ImageTaskFacts, status: ImageTaskStatus): ImageTaskFacts =>
  status === task.status
    ? { ...task, progress: 0, waitsFor: null }
    : {
        ...task,
        status,
        progress: 0,
        waitsFor: null,
        error: null,
        results: [],
        warnings: task.warnings && { ...task.warnings, unformatted: null, lossless: null },
      }
