import sharp from 'sharp'
import { TaskError } from '../../domain/task/task-error.ts'
import { makeThreadPool, type ThreadEnd } from '../thread-pool.ts'
import type { ImageEngine, RenderControl, RenderedImage } from './image-engine.ts'
import type { RenderMessage, RenderOrder } from './render-thread.ts'

export interface LocalImageEngineOptions {
  /** Largest input, in pixels (IMAGE_MAX_PIXELS). */
  maxPixels: number
  /** Threads libvips may use for one picture; 1 when absent, because there is a slot for every core already. */
  threads?: number
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
  const pool = makeThreadPool<RenderOrder, RenderMessage>(
    new URL('./render-thread.js', import.meta.url),
  )
  return {
    name: 'local',
    render: (job, control) =>
      pool
        .run({
          order: { job, maxPixels },
          signal: control.signal,
          onMessage: (message) => follow(message, control),
        })
        .catch((cause: unknown) => {
          if (cause instanceof TaskError || control.signal.aborted) throw cause
          throw new Error('the local image engine failed', { cause })
        }),
    close: () => pool.close(),
  }
}

const follow = (
  message: RenderMessage,
  control: RenderControl,
): ThreadEnd<RenderedImage[]> | undefined => {
  if (message.type === 'rendered') {
    const pixels = message.images.reduce((sum, { width, height }) => sum + width * height, 0)
    return { result: message.images, isSpent: pixels >= RETIRING_PIXELS }
  }
  if (message.type === 'error') return { error: new TaskError(message.code, message.message) }
  // Work or memory of a job that did not end goes with its thread.
  if (message.type === 'failure') return { error: new Error(message.cause), isSpent: true }
  control.onProgress(message.percent)
  return undefined
}
