import { DefaultLogger, Runtime, makeTelemetryFilterString } from '@temporalio/worker'

/** Faults are what these tests are about: the SDK says nothing of them. */
export const installQuietRuntime = (): void => {
  const filter = makeTelemetryFilterString({ core: 'OFF' as 'ERROR', other: 'OFF' as 'ERROR' })
  Runtime.install({
    logger: new DefaultLogger('ERROR', () => {}),
    shutdownSignals: [],
    telemetryOptions: { logging: { filter, forward: {} } },
  })
}
