import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'

import type { Log } from '../log.ts'

interface Place {
  port: number
  host: string
  /** The setting of the port; the setting of the host has HOST in place of PORT. */
  setting: 'PORT' | 'METRICS_PORT'
  log: Log
}

/** Listens, and returns the port. Ends the process where it cannot, and says what to set. */
export const listen = async (
  server: Server,
  { port, host, setting, log }: Place,
): Promise<number> => {
  server.listen(port, host)
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    log.fatal(
      error.code === 'EADDRINUSE'
        ? `port ${port} is taken: set ${setting} to another one`
        : `${error.message}: correct ${setting} and ${setting.replace('PORT', 'HOST')}`,
    )
    process.exit(1)
  })
  return (server.address() as AddressInfo).port
}
