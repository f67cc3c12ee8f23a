import type { WorkflowClient } from '@temporalio/client'

import type { TemporalOptions } from '../settings/temporal.ts'
import { OperatorError } from '../process/operator-error.ts'
import { GRPC, findGrpcError } from './grpc-error.ts'
import { adviseStatus } from './temporal-advice.ts'

/**
 * Throws unless Temporal responds, has the namespace and lets this account write in it, which whoever starts workflows or
 * asks for their work must do: it fails an activity of a workflow that is never there.
 */
export const probeTemporal = async (
  client: Pick<WorkflowClient, 'workflowService'>,
  target: TemporalOptions,
): Promise<void> => {
  const { namespace } = target
  try {
    await client.workflowService.respondActivityTaskFailedById({
      namespace,
      workflowId: 'kiln-probe',
      activityId: 'none',
      identity: 'kiln',
    })
  } catch (error) {
    const advice = adviseStatus(target, error)
    if (advice !== undefined) throw new OperatorError(advice)
    if (findGrpcError(error)?.code !== GRPC.NOT_FOUND) throw error
  }
}
