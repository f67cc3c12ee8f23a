import { Worker } from '@temporalio/worker'

/**
 * A worker that enters workflows without a time limit. With one, Node makes a thread at each entry and ends it again, which
 * takes 0.1 ms of processor (nodejs/node#47739). The limit is there for workflows that never wait; each turn of a loop in
 * ours does. Tests of workflows run them with the limit.
 */
export class UnwatchedWorker extends Worker {
  protected static override createWorkflowCreator(
    ...[bundle, options, logger]: Parameters<(typeof Worker)['createWorkflowCreator']>
  ) {
    return super.createWorkflowCreator(
      bundle,
      { ...options, isolateExecutionTimeoutMs: undefined as never },
      logger,
    )
  }
}
