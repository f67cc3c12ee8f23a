import { Worker } from '@temporalio/worker'

type Options = Parameters<typeof Worker.create>[0]

/**
 * A worker that enters workflows without a time limit. With one, Node makes a thread for each entry and ends it again, which
 * takes 0.1 ms of processor (nodejs/node#47739), some twenty times a task. It is there for workflows that never wait; each
 * turn of a loop in ours does. Tests run them with the limit.
 */
class UnwatchedWorker extends Worker {
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

export const createWorkflowWorker = (options: Options): Promise<Worker> =>
  UnwatchedWorker.create(options)
