import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

type State = 'open' | 'silent' | 'closed'

/** The way from one host to one server. */
export interface Link {
  host: string
  port: number
  /** An address of the server by this way. */
  url(of: string): string
  /** `silent`: nothing arrives and nobody is told, as with a pulled cable. `closed`: all is broken off and refused. */
  set(state: State): void
  /** Leads elsewhere from now on; connections that there are get silent for good when they are left behind. */
  leadTo(port: number, options?: { leaveBehind: boolean }): void
  stop(): Promise<void>
}

/** Listens on an address of its own and passes everything on to a port of 127.0.0.1. */
export const startLink = async (host: string, target: number): Promise<Link> => {
  let state: State = 'open'
  const pairs = new Set<readonly [Socket, Socket]>()
  const left = new Set<Socket>()
  const server = createServer((near) => {
    if (state === 'closed') return void near.destroy()
    const far = connect(target, '127.0.0.1')
    const pair = [near, far] as const
    pairs.add(pair)
    const end = (): void => {
      pairs.delete(pair)
      if (left.has(near)) return
      near.destroy()
      far.destroy()
    }
    for (const [one, other] of [pair, [far, near] as const]) {
      one.on('error', () => {}).on('close', end)
      one.on('data', (chunk: Buffer) => other.write(chunk))
      if (state === 'silent') one.pause()
    }
  })
  server.listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const all = (): Socket[] => [...pairs].flat()
  return {
    host,
    port,
    url: (of) => Object.assign(new URL(of), { hostname: host, port: String(port) }).href,
    set(next) {
      state = next
      for (const socket of all())
        if (!left.has(socket))
          if (next === 'closed') socket.destroy()
          else socket[next === 'open' ? 'resume' : 'pause']()
    },
    leadTo(port, { leaveBehind } = { leaveBehind: false }) {
      target = port
      if (leaveBehind) for (const socket of all()) left.add(socket.pause())
    },
    async stop() {
      for (const socket of [...all(), ...left]) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
