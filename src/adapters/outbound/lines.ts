import type { Socket } from 'node:net'
import { Agent, type buildConnector } from 'undici'

/** An agent with one connection at most, for one exchange at a time. */
export interface Line {
  agent: Agent
  /** How the exchange that has the line opens its connection. */
  connect: buildConnector.connector
  /** The open connection, once there is one. */
  socket?: Socket
  /** It was kept before. */
  isKept?: boolean
}

/** Lines whose connection waits for the next message to its origin. */
export interface Lines {
  /** One to this origin, and with the same limits, whose peer is among the addresses that the host was found to have now. */
  take: (key: string, addresses: readonly string[] | undefined) => Line | undefined
  /** Keeps a line for a few seconds, if it is of use to anybody. */
  keep: (key: string, line: Line) => Promise<void>
  close: () => Promise<void>
}

/** As many as a host has slots for attempts. */
const PER_ORIGIN = 8
const ALL = 256
/** Many servers close after five seconds. What a receiver asks for in `Keep-Alive` makes it no longer. */
const KEEP_MS = 4_000

export const openLine = (options: Agent.Options): Line => {
  const line: Line = {
    agent: new Agent({
      ...options,
      connections: 1,
      connect: (target, callback) => line.connect(target, callback),
      keepAliveTimeout: KEEP_MS,
      keepAliveMaxTimeout: KEEP_MS,
    }),
    connect: (_target, callback) => callback(new Error('no exchange has this line'), null),
  }
  return line
}

export const makeLines = (): Lines => {
  const idle = new Map<string, Line[]>()
  let count = 0
  const drop = (key: string, line: Line): boolean => {
    const lines = idle.get(key)
    const at = lines?.indexOf(line) ?? -1
    if (!lines || at < 0) return false
    lines.splice(at, 1)
    count -= 1
    if (lines.length === 0) idle.delete(key)
    return true
  }
  return {
    take(key, addresses) {
      const line = idle
        .get(key)
        ?.find(({ socket }) => addresses?.includes(socket?.remoteAddress ?? ''))
      return line && drop(key, line) ? line : undefined
    },
    async keep(key, line) {
      const lines = idle.get(key) ?? []
      const { socket } = line
      if (!socket || socket.destroyed || lines.length >= PER_ORIGIN || count >= ALL)
        return await line.agent.destroy()
      idle.set(key, [...lines, line])
      count += 1
      if (line.isKept) return
      line.isKept = true
      socket.once('close', () => {
        if (drop(key, line)) void line.agent.destroy()
      })
    },
    async close() {
      const lines = [...idle.values()].flat()
      idle.clear()
      count = 0
      await Promise.all(lines.map(({ agent }) => agent.destroy()))
    },
  }
}
