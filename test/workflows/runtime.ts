import { Connection } from '@temporalio/client'
import { DefaultLogger, Runtime } from '@temporalio/worker'

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

/** Faults are what these tests are about: the SDK says nothing of them. */
export const installQuietRuntime = (): void => {
  Runtime.install({
    logger: new DefaultLogger('ERROR', () => {}),
    shutdownSignals: [],
    telemetryOptions: { logging: { filter: 'off', forward: {} } },
  })
}
