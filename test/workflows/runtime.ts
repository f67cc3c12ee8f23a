import { Connection } from '@temporalio/client'
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker'
import type { WorkerOptions } from '@temporalio/worker'

import { PATIENCE_MS } from '../support/patience.ts'
import { temporalAddress } from '../support/stack.ts'

/** Connects to the Temporal server of this run; the service gives a call two seconds, which a busy machine may need. */
export const connectPatiently = async (): Promise<Connection> => {
  const options = { address: temporalAddress(), connectTimeout: PATIENCE_MS }
  const connection = await Connection.connect(options)
  const withDeadline = connection.withDeadline.bind(connection)
  return Object.assign(connection, {
    withDeadline: <T>(_deadline: number | Date, call: () => Promise<T>): Promise<T> =>
      withDeadline(Date.now() + PATIENCE_MS, call),
  })
}

/** Errors are what these tests are about: the SDK logs none of them. */
export const installQuietRuntime = (): void => {
  Runtime.install({
    logger: new DefaultLogger('ERROR', () => {}),
    shutdownSignals: [],
    telemetryOptions: { logging: { filter: 'off', forward: {} } },
  })
}

/** Options of a worker that passes each heartbeat on at once, for tests which wait for one. */
export const PROMPT_HEARTBEATS = {
  maxHeartbeatThrottleInterval: '100 milliseconds',
  defaultHeartbeatThrottleInterval: '100 milliseconds',
} as const

/** Runs workers on a connection of their own until `stop`. */
export const startWorkers = async (
  address: string,
  options: readonly Omit<WorkerOptions, 'connection'>[],
): Promise<{ stop: () => Promise<void> }> => {
  const connection = await NativeConnection.connect({ address })
  const workers = await Promise.all(options.map((one) => Worker.create({ connection, ...one })))
  const running = workers.map((worker) => worker.run())
  return {
    stop: async () => {
      for (const worker of workers) worker.shutdown()
      await Promise.all(running)
      await connection.close()
    },
  }
}
