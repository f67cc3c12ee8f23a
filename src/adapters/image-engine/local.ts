import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import sharp from 'sharp'
import { TaskError } from '../../domain/task/task-error.ts'
import type { ImageEngine, RenderControl, RenderedImage } from './image-engine.ts'
import type { RenderMessage, RenderOrder } from './render-thread.ts'

export interface LocalImageEngineOptions {
  /** Largest input, in pixels (IMAGE_MAX_PIXELS). */
  maxPixels: number
  /** Threads libvips may use for one picture; 1 when absent, because there is a slot for every core already. */
  threads?: number
}

/** Threads that wait for a job, and all that live. */
interface Pool {
  idle: Worker[]
  alive: Set<Worker>
}

// A thread keeps the buffers of its last job until its garbage is next collected, which may be never: after a job as
// large as this it is replaced, for 0.1 s against the seconds of such a job.
const RETIRING_PIXELS = 8_000_000

/**
 * Classical image processing with sharp. It is not generative: it invents no light source, object or face. Each job
 * runs in a thread of its own, so that the event loop stays free; threads are kept for the next job. An abort ends the
 * thread. A libvips call that is under way (at most an encoding) ends by itself, and nobody waits for it.
 */
export const makeLocalImageEngine = ({
  maxPixels,
  threads = 1,
}: LocalImageEngineOptions): ImageEngine => {
  sharp.cache(false)
  sharp.concurrency(threads)
  const pool: Pool = { idle: [], alive: new Set() }
  return {
    name: 'local',
    render: (job, control) => renderInThread(pool, { job, maxPixels }, control),
    close: async () => {
      await Promise.all([...pool.alive].map((thread) => thread.terminate()))
    },
  }
}

const renderInThread = async (
  pool: Pool,
  order: RenderOrder,
  control: RenderControl,
): Promise<RenderedImage[]> => {
  control.signal.throwIfAborted()
  const thread = takeThread(pool)
  const settled = new AbortController()
  const aborted = rejectOnAbort(control.signal, settled.signal)
  try {
    const images = await Promise.race([runOrder(thread, order, control, settled.signal), aborted])
    returnThread(pool, thread, images)
    return images
  } catch (cause) {
    if (cause instanceof TaskError) keepThread(pool, thread)
    // Work or memory of a job that did not end goes with its thread.
    else void thread.terminate()
    throw cause
  } finally {
    settled.abort()
  }
}

const takeThread = (pool: Pool): Worker => {
  const thread = pool.idle.pop() ?? addThread(pool)
  thread.ref()
  return thread
}

const addThread = (pool: Pool): Worker => {
  const thread = new Worker(new URL('./render-thread.js', import.meta.url), { execArgv: [] })
  pool.alive.add(thread)
  thread.once('exit', () => {
    pool.alive.delete(thread)
    pool.idle = pool.idle.filter((other) => other !== thread)
  })
  return thread
}

const returnThread = (pool: Pool, thread: Worker, images: RenderedImage[]): void => {
  const pixels = images.reduce((sum, { width, height }) => sum + width * height, 0)
  if (pixels >= RETIRING_PIXELS) return void thread.terminate()
  keepThread(pool, thread)
}

const keepThread = (pool: Pool, thread: Worker): void => {
  // An idle thread must not keep the process alive.
  thread.unref()
  pool.idle.push(thread)
}

const rejectOnAbort = async (signal: AbortSignal, settled: AbortSignal): Promise<never> => {
  await once(signal, 'abort', { signal: settled })
  throw signal.reason
}

/** Sends an order and follows its messages; also rejects when the thread dies under it. */
const runOrder = (
  thread: Worker,
  order: RenderOrder,
  control: RenderControl,
  settled: AbortSignal,
): Promise<RenderedImage[]> =>
  new Promise((resolve, reject) => {
    const fail = (cause: unknown) => reject(new Error('the local image engine failed', { cause }))
    const onMessage = (message: RenderMessage) => {
      if (message.type === 'progress') control.onProgress(message.percent)
      else if (message.type === 'rendered') resolve(message.images)
      else if (message.type === 'error') reject(new TaskError(message.code, message.message))
      else fail(new Error(message.cause))
    }
    const exit = (code: number) => fail(new Error(`its thread ended with code ${code}`))
    thread.on('message', onMessage).on('error', fail).on('exit', exit)
    settled.addEventListener('abort', () => {
      thread.off('message', onMessage).off('error', fail).off('exit', exit)
    })
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is not a window
    thread.postMessage(order)
  })
