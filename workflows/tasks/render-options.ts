import type { ActivityOptions } from '@temporalio/workflow'
import { workflowInfo } from '@temporalio/workflow'

import type { EngineName } from '../../src/tasks/domain/engine.ts'
import type { RenderTiming } from '../../src/tasks/domain/render-timing.ts'

/** Time a render has after the deadline it checks itself, before the server ends the attempt. */
const DEADLINE_MARGIN_SECONDS = 60

/**
 * Rendering runs on the queue of the task's engine. It has no limit of attempts here: the row counts the attempts that
 * matter, so that an outage of PostgreSQL or of a bucket, however long, costs none.
 */
export const renderOptions = (
  { heartbeatSeconds, deadlineSeconds }: RenderTiming,
  engine: EngineName = 'local',
): ActivityOptions => ({
  summary: 'fetch the inputs, render, store the results',
  taskQueue: `${workflowInfo().taskQueue}-${engine === 'local' ? 'media' : engine}`,
  startToCloseTimeout: (deadlineSeconds + DEADLINE_MARGIN_SECONDS) * 1000,
  heartbeatTimeout: heartbeatSeconds * 1000,
  // Mostly its worker was killed, and the heartbeat has cost time enough. The second wait is a second.
  retry: {
    initialInterval: '200 milliseconds',
    backoffCoefficient: 5,
    maximumInterval: '10 seconds',
  },
})
