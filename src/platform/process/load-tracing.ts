import type { Log } from '../log.ts'
import type { Tracing } from './tracing.ts'

/** Loads OpenTelemetry and starts to trace, where there is a collector. */
export const loadTracing = async (
  endpoint: string,
  { service, log }: { service: string; log: Log },
): Promise<Tracing | undefined> => {
  if (endpoint === '') return undefined
  const { startTracing } = await import('./tracing.ts')
  return startTracing(service, log)
}
