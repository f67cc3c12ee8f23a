import { EventEmitter, once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** The way from one process to another, which can be disturbed: a proxy on an address of this machine. */
export type Link = Awaited<ReturnType<typeof startLink>>

export type LinkMode =
  | { name: 'pass' }
  /** All is broken off and rejected. */
  | { name: 'reject' }
  /** Nothing arrives and nobody notices, as with a pulled cable, until it is set to something else. */
  | { name: 'hold' }
  | { name: 'delay'; ms: number }
  | { name: 'drip'; bytes: number; everyMs: number }
  /** A response that `isIt` is not delivered: what it reports was done, and the connection is reset. */
  | { name: 'lose'; isIt: (response: Buffer) => boolean }

export const PASS: LinkMode = { name: 'pass' }

interface Pair {
  near: Socket
  far: Socket
  isLeft: boolean
}

/** Listens on a free port of `host` and passes everything on to the host and port of a URL. */
export const startLink = async (to: string, host = '127.0.0.1') => {
  let mode: LinkMode = PASS
  const target = new URL(to)
  let port = Number(target.port)
  const changes = new EventEmitter().setMaxListeners(0)
  const pairs = new Set<Pair>()

  const untilItPasses = async (pair: Pair): Promise<void> => {
    while (mode.name === 'hold' || pair.isLeft) await once(changes, 'change')
  }

  /** Bytes as they leave: late, in pieces or not at all. Throws when the connection is to be reset. */
  const shape = async function* (chunk: Buffer, isResponse: boolean): AsyncGenerator<Buffer> {
    // A chunk that has begun ends as it began, whatever comes meanwhile.
    const now = mode
    if (now.name === 'lose' && isResponse && now.isIt(chunk)) throw new Error('lost')
    if (now.name === 'delay') await sleep(now.ms)
    if (now.name !== 'drip') return yield chunk
    for (let at = 0; at < chunk.length; at += now.bytes) {
      yield chunk.subarray(at, at + now.bytes)
      if (mode === now) await sleep(now.everyMs)
    }
  }

  const pump = async (pair: Pair, isResponse: boolean): Promise<void> => {
    const [from, to] = isResponse ? [pair.far, pair.near] : [pair.near, pair.far]
    try {
      for await (const chunk of from) {
        await untilItPasses(pair)
        for await (const part of shape(chunk as Buffer, isResponse))
          if (!to.write(part)) await once(to, 'drain')
      }
      await untilItPasses(pair)
      to.end()
    } catch {
      await untilItPasses(pair)
      reset(pair)
    }
  }

  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ host: target.hostname, port, allowHalfOpen: true })
    const pair = { near, far, isLeft: false }
    pairs.add(pair)
    for (const socket of [near, far]) {
      socket.setNoDelay()
      socket.on('error', () => {})
    }
    if (mode.name === 'reject') return reset(pair)
    void Promise.all([pump(pair, false), pump(pair, true)]).then(() => pairs.delete(pair))
  })
  server.listen(0, host)
  await once(server, 'listening')

  /** Ends the connections that are open: with a reset, or with the end of one direction. */
  const cut = (how: 'reset' | 'half'): void => {
    for (const pair of pairs)
      if (how === 'half') pair.far.end()
      else reset(pair)
  }
  const own = (server.address() as AddressInfo).port
  return {
    host,
    port: own,
    /** An address of the server by this way. */
    url: (of: string): string =>
      Object.assign(new URL(of), { hostname: host, port: String(own) }).href,
    /** Sets what becomes of bytes from now on. */
    set(next: LinkMode) {
      mode = next
      changes.emit('change')
      if (next.name === 'reject') cut('reset')
    },
    cut,
    /** Leads elsewhere from now on; connections that are left behind are silent for good. */
    leadTo(next: number, { leaveBehind } = { leaveBehind: false }) {
      port = next
      if (leaveBehind) for (const pair of pairs) pair.isLeft = true
    },
    async stop() {
      server.close()
      cut('reset')
      await once(server, 'close')
    },
  }
}

const reset = ({ near, far }: Pair): void => {
  for (const socket of [near, far]) socket.resetAndDestroy()
}
