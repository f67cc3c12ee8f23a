import type { Server } from 'node:http'
import type { Socket } from 'node:net'

import { watchPace, type Pace } from '../body/pace.ts'
import { makeSendQueue } from './send-queue.ts'

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
