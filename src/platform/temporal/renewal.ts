import { isDeepStrictEqual } from 'node:util'

import type { Log } from '../log.ts'
import { startLoop, type Loop } from '../process/loop.ts'
import { findTemporalIssues, readTemporal } from '../settings/temporal.ts'
import type { TemporalOptions } from '../settings/temporal.ts'

/** Time for what is under way by the connection before. */
const CLOSE_MS = 10_000

interface Closable {
  close(): Promise<void>
}

interface Renewal<Connection extends Closable> {
  inUse: TemporalOptions
  connection: Connection
  open: (target: TemporalOptions) => Promise<Connection>
  /** Makes all further calls by another connection. */
  use: (connection: Connection) => void
  intervalMs: number
  log: Log
}

/**
 * Starts the loop that reads again how Temporal is reached, so that a certificate or key which was replaced in its file is
 * used without a restart. What cannot be used, such as a new certificate whose key is not there yet, waits.
 */
export const startRenewal = <Connection extends Closable>({
  inUse,
  connection,
  open,
  use,
  intervalMs,
  log,
}: Renewal<Connection>): Loop => {
  const close = (before: Connection): Promise<void> =>
    before.close().catch((error: unknown) => log.warn({ err: error }, 'a connection stays open'))
  const pass = async (): Promise<void> => {
    const target = readTemporal()
    if (isDeepStrictEqual(target, inUse)) return
    const issues = findTemporalIssues(process.env).map(({ message }) => message)
    if (issues.length > 0)
      return log.warn({ issues }, 'how Temporal is reached changed, and cannot be used yet')
    const before = connection
    connection = await open(target)
    inUse = target
    use(connection)
    setTimeout(() => void close(before), CLOSE_MS).unref()
    log.info('Temporal is called with the certificate or key that was replaced')
  }
  const loop = startLoop('temporal renewal', pass, { intervalMs, log })
  return {
    async stop() {
      await loop.stop()
      await close(connection)
    },
  }
}
