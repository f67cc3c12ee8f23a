import { DefaultLogger, Runtime } from '@temporalio/worker'

/** Faults are what these tests are about: the SDK says nothing of them. */
export const installQuietRuntime = (): void => {
  Runtime.install({
    logger: new DefaultLogger('ERROR', () => {}),
    shutdownSignals: [],
    telemetryOptions: { logging: { filter: 'off', forward: {} } },
  })
}
