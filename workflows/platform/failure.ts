import {
  ActivityFailure,
  ApplicationFailure,
  ChildWorkflowFailure,
  isCancellation,
  TerminatedFailure,
  TimeoutFailure,
} from '@temporalio/workflow'
import type { CancellationScope } from '@temporalio/workflow'

/** Why a task failed: a code of the catalogue, and the sentence for the caller where the activity gave one. */
export interface FailureReason {
  code: string
  message?: string
}

/**
 * Finds what ended a render. One whose cancellation was asked for is cancelled, also when its worker did not live to
 * say so. Anything that carries no code of ours is an internal error.
 */
export const reasonOf = (error: unknown, scope: CancellationScope): FailureReason => {
  if (isCancellation(error) || scope.consideredCancelled) return { code: 'cancelled' }
  const cause = error instanceof ActivityFailure ? error.cause : error
  if (cause instanceof TimeoutFailure) return { code: 'timeout' }
  if (cause instanceof ApplicationFailure && cause.nonRetryable && cause.type)
    return { code: cause.type, message: cause.message }
  return { code: 'internal_error' }
}

/** Why a check could not run after its last attempt: a code of ours, or what the server says of its worker. */
export const checkErrorOf = (error: unknown): string => {
  if (isCancellation(error)) return 'cancelled'
  const isOutside = error instanceof ActivityFailure || error instanceof ChildWorkflowFailure
  const cause = isOutside ? error.cause : error
  if (cause instanceof TimeoutFailure) return 'worker_lost'
  if (cause instanceof TerminatedFailure) return 'workflow_lost'
  return (cause instanceof ApplicationFailure && cause.type) || 'internal_error'
}
