import type { ActivityOptions } from '@temporalio/workflow'
import { workflowInfo } from '@temporalio/workflow'

import type { CheckTiming } from '../../src/registry/domain/check-timing.ts'

/** Durations and attempts of a version's checks, where its start gives no others. */
export const CHECK_TIMING: CheckTiming = {
  heartbeatSeconds: 5,
  // 256 MiB from a store that gives 1 MB a second.
  deadlineSeconds: 300,
  attempts: 5,
  retrySeconds: 1,
  maxRetrySeconds: 60,
}

/** A check of an archive runs on the media queue, which counts the attempts: an outage costs none. */
export const checkOptions = (
  summary: string,
  { heartbeatSeconds, deadlineSeconds, retrySeconds, maxRetrySeconds }: CheckTiming,
): ActivityOptions => ({
  summary,
  taskQueue: `${workflowInfo().taskQueue}-media`,
  startToCloseTimeout: deadlineSeconds * 1000,
  heartbeatTimeout: heartbeatSeconds * 1000,
  retry: {
    initialInterval: retrySeconds * 1000,
    backoffCoefficient: 4,
    maximumInterval: maxRetrySeconds * 1000,
  },
})
