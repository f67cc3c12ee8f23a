import { proxyActivities, proxyLocalActivities, workflowInfo } from '@temporalio/workflow'

import type { BareActivities } from './bare-worker.ts'

/** The shape of an image task and nothing else: one activity on the media queue, one local activity. */
export const bareTask = async (id: string): Promise<void> => {
  const { render } = proxyActivities<BareActivities>({
    taskQueue: `${workflowInfo().taskQueue}-media`,
    startToCloseTimeout: '1 minute',
    heartbeatTimeout: '10 seconds',
  })
  const { complete } = proxyLocalActivities<BareActivities>({ startToCloseTimeout: '10 seconds' })
  await complete(await render(id))
}
