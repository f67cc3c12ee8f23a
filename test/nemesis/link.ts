import { EventEmitter, once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A connection between two processes that can be disturbed: a proxy on a free port of 127.0.0.1. */
export interface Link {
  port: number
  /** What becomes of bytes from now on. `hold` keeps them until it is set to something else. */
  set(mode: LinkMode): void
  /** Ends the connections that are open: with a reset, or with the end of one direction. */
  cut(how: 'reset' | 'half'): void
  stop(): Promise<void>
}

export type LinkMode =
  | { name: 'pass' | 'hold' | 'refuse' }
  | { name: 'delay'; ms: number }
  | { name: 'drip'; bytes: number; everyMs: number }
  /** An answer that `isIt` is not delivered: what it tells was done, and the connection is reset. */
  | { name: 'lose'; isIt: (answer: Buffer) => boolean }

export const PASS: LinkMode = { name: 'pass' }

export const startLink = async (target: { host: string; port: number }): Promise<Link> => {
  let mode: LinkMode = PASS
  const changes = new EventEmitter().setMaxListeners(0)
  const pairs = new Set<readonly [Socket, Socket]>()

  /** Bytes as they leave: late, in pieces or not at all. Throws when the connection is to be reset. */
  const shape = async function* (chunk: Buffer, isAnswer: boolean): AsyncGenerator<Buffer> {
    while (mode.name === 'hold') await once(changes, 'change')
    // A chunk that has begun ends as it began, whatever comes meanwhile.
    const now = mode
    if (now.name === 'lose' && isAnswer && now.isIt(chunk)) throw new Error('lost')
    if (now.name === 'delay') await sleep(now.ms)
    if (now.name !== 'drip') return yield chunk
    for (let at = 0; at < chunk.length; at += now.bytes) {
      yield chunk.subarray(at, at + now.bytes)
      if (mode === now) await sleep(now.everyMs)
    }
  }

  const pump = async (pair: readonly [Socket, Socket], isAnswer: boolean): Promise<void> => {
    const [from, to] = isAnswer ? pair.toReversed() : pair
    if (!from || !to) return
    try {
      for await (const chunk of from)
        for await (const part of shape(chunk as Buffer, isAnswer))
          if (!to.write(part)) await once(to, 'drain')
      to.end()
    } catch {
      for (const socket of pair) socket.resetAndDestroy()
    }
  }

  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ ...target, allowHalfOpen: true })
    const pair = [near, far] as const
    for (const socket of pair) {
      socket.setNoDelay()
      socket.on('error', () => pair.forEach((one) => one.destroy()))
      socket.on('close', () => {
        pairs.delete(pair)
        pair.forEach((one) => one.destroy())
      })
    }
    if (mode.name === 'refuse') return pair.forEach((socket) => socket.resetAndDestroy())
    pairs.add(pair)
    void pump(pair, false)
    void pump(pair, true)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const cut = (how: 'reset' | 'half'): void => {
    for (const [near, far] of pairs)
      if (how === 'half') far.end()
      else for (const socket of [near, far]) socket.resetAndDestroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    set(next) {
      mode = next
      changes.emit('change')
    },
    cut,
    async stop() {
      server.close()
      mode = PASS
      changes.emit('change')
      cut('reset')
      await once(server, 'close')
    },
  }
}
