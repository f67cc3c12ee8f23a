import { randomInt } from 'node:crypto'

import getPort from 'get-port'

/**
 * Below the ports that Linux, macOS and Windows give to outgoing connections: one of those would take the port of a server
 * between its kill and its next start. 10080 is a port that `fetch` asks nothing of.
 */
const LOWEST = 10_100
const HIGHEST = 32_000

/** A free port of this machine: one of those wished for when it is free. */
export const findPort = async (...wished: number[]): Promise<number> => {
  const others = Array.from({ length: 100 }, () => randomInt(LOWEST, HIGHEST))
  return await getPort({ host: '127.0.0.1', port: [...wished, ...others] })
}
