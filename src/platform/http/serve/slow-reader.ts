import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

import { watchPace, type Pace } from '../../json-body/pace.ts'

/** Nothing for 30 s, or less than 16 KiB/s over a minute: the slowest phone takes more, and who takes less holds memory. */
export const READER_PACES: readonly Pace[] = [
  { bytesPerSecond: 1 / 30, windowMs: 30_000 },
  { bytesPerSecond: 16 * 1024, windowMs: 60_000 },
]

/**
 * Closes connections whose client takes its responses too slowly. A connection without unsent bytes is left alone,
 * however long it is silent.
 */
export const closeSlowReaders = (server: Server, paces: readonly Pace[]): void => {
  const queued = makeSendQueue()
  server.on('connection', (socket: Socket) => {
    const stops = paces.map((pace) =>
      watchPace(pace, {
        // Of what Node has handed to the system, in the pieces that responses are written in.
        bytes: () => socket.bytesWritten - socket.writableLength - queued(socket),
        waiting: () => socket.writableLength > 0,
        tooSlow: () => socket.destroy(),
      }),
    )
    socket.once('close', () => {
      for (const stop of stops) stop()
    })
  })
}

/** Counts the bytes of a connection that the system has taken and the client has not; 0 when the system does not say. */
type SendQueue = (socket: Socket) => number

/** Time for which one reading of the table serves all connections. */
const FRESH_MS = 1000

/** Makes the reader of Linux's table of connections: what the system still holds tells a slow client from a dead one. */
export const makeSendQueue = (tables = ['/proc/net/tcp', '/proc/net/tcp6']): SendQueue => {
  let read = { at: -Infinity, queues: new Map<string, number>() }
  return ({ localPort = 0, remotePort = 0, remoteAddress = '' }) => {
    if (performance.now() - read.at > FRESH_MS)
      read = { at: performance.now(), queues: new Map(tables.flatMap(readTable)) }
    return read.queues.get(keyOf(localPort, remotePort, lastBytes(remoteAddress))) ?? 0
  }
}

const keyOf = (localPort: number, remotePort: number, address: string): string =>
  `${localPort} ${remotePort} ${address}`

/** ` 0: 0100007F:1F90 0200007F:D431 01 00000400:00000000 …`: local, remote, state, queues; all hexadecimal. */
const LINE = /^ *\d+: [\dA-F]+:([\dA-F]{4}) ([\dA-F]+):([\dA-F]{4}) \w\w ([\dA-F]{8}):/gm

const readTable = (path: string): [string, number][] =>
  [...readText(path).matchAll(LINE)].map(
    ([, local = '', address = '', remote = '', queue = '']) => [
      keyOf(parseInt(local, 16), parseInt(remote, 16), toLastBytes(address)),
      parseInt(queue, 16),
    ],
  )

const readText = (path: string): string => {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

/** The last four bytes, which the table writes the other way round, in hexadecimal: enough to tell clients apart. */
const toLastBytes = (address: string): string =>
  Buffer.from(address.slice(-8), 'hex').readUInt32LE().toString(16).padStart(8, '0')

/** The same of an address as a socket has it. */
const lastBytes = (address: string): string => {
  const [, ipv4] = /(\d+\.\d+\.\d+\.\d+)$/.exec(address) ?? []
  if (ipv4 !== undefined) return Buffer.from(ipv4.split('.').map(Number)).toString('hex')
  const groups = address.replace(/%.*$/, '').split(':').slice(-2)
  return groups.map((group) => group.padStart(4, '0')).join('')
}
