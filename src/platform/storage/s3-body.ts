import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'

import { inTime } from '../domain/in-time.ts'
import { hide } from './s3-client.ts'

/** Opens a body at a byte of the file. */
export type OpenBody = (start: number) => Promise<Readable>

interface Part {
  /** Bytes of the file, the last not included. */
  start: number
  end: number
  reopen: OpenBody
}

/** Longest wait for the next bytes. */
const IDLE_MS = 20_000
const ATTEMPTS = 4
const PAUSE_MS = 250

/**
 * The bytes of a part of a file, from its opened body on. A body that breaks off or stands still is opened again where it
 * ended; after the fourth time without a byte the stream fails.
 */
export const readBody = (body: Readable, part: Part): Readable => {
  const reading = { body, isOver: false }
  const stream = Readable.from(resume(reading, part), { objectMode: false })
  // Who goes away does not wait for the next bytes.
  stream.once('close', () => {
    reading.isOver = true
    reading.body.destroy()
  })
  return stream
}

async function* resume(
  reading: { body: Readable; isOver: boolean },
  { start, end, reopen }: Part,
): AsyncGenerator<Buffer> {
  let [at, attempts] = [start, 0]
  while (at < end)
    try {
      if (attempts > 0) {
        await sleep(PAUSE_MS * 2 ** (attempts - 1))
        reading.body = await reopen(at)
      }
      if (reading.isOver) return void reading.body.destroy()
      for await (const chunk of pull(reading.body)) {
        at += chunk.length
        attempts = 0
        yield chunk
      }
      if (at < end) throw new Error(`the body ended ${end - at} bytes early`)
    } catch (error) {
      reading.body.destroy()
      attempts += 1
      if (reading.isOver || attempts === ATTEMPTS) hide('GetObject')(error)
    }
}

/** Time that the reader takes does not count. */
async function* pull(body: Readable): AsyncGenerator<Buffer> {
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  for (;;) {
    const { done, value } = await inTime(chunks.next(), IDLE_MS, 'the body')
    if (done === true) return
    yield value
  }
}
