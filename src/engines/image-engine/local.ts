import sharp from 'sharp'

import type {
  ImageJob as RenderJob,
  RenderedImage,
} from '../../../packages/engines/src/image-job.ts'
import { InputError } from '../../../packages/engines/src/input-error.ts'
import type { RenderMessage, RenderOrder } from '../../../packages/engines/src/render-thread.ts'
import { IMAGE_KINDS, type ImageRequest } from '../../tasks/domain/image/image-kind.ts'
import { isNeutral, readPrompt } from '../../tasks/domain/image/prompt-light.ts'
import { TaskError } from '../../tasks/domain/task-error.ts'
import { toTaskError } from '../../tasks/adapters/input-error.ts'
import { makeThreadPool, type ThreadEnd } from '../../platform/adapters/thread-pool.ts'
import type { ImageEngine, ImageJob, RenderControl } from './image-engine.ts'

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
    new URL('../../../packages/engines/src/render-thread.js', import.meta.url),
  )
  return {
    name: 'local',
    render: (job, control) =>
      pool
        .run({
          order: { job: toRenderJob(job), maxPixels },
          signal: control.signal,
          onMessage: (message) => follow(message, control),
        })
        .catch((cause: unknown) => {
          const error = toTaskError(cause)
          if (error instanceof TaskError || control.signal.aborted) throw error
          throw new Error('the local image engine failed', { cause })
        }),
    close: () => pool.close(),
  }
}

/** Adds what only this service knows: the words of light, and the limits of its results. */
const toRenderJob = ({ kind, settings, output, inputs, scratchDir }: ImageJob): RenderJob => {
  const request = { kind, settings } as ImageRequest
  const job = { ...request, output, inputs, scratchDir, maxResult: IMAGE_KINDS[kind].maxResult }
  if (request.kind !== 'relight') return job
  const light = readPrompt(request.settings.prompt ?? '')
  return isNeutral(light) ? job : { ...job, light }
}

const follow = (
  message: RenderMessage,
  control: RenderControl,
): ThreadEnd<RenderedImage[]> | undefined => {
  if (message.type === 'rendered') {
    const pixels = message.images.reduce((sum, { width, height }) => sum + width * height, 0)
    return { result: message.images, isSpent: pixels >= RETIRING_PIXELS }
  }
  if (message.type === 'error') return { error: new InputError(message.code, message.sentence) }
  // Work or memory of a job that did not end goes with its thread.
  if (message.type === 'failure') return { error: new Error(message.cause), isSpent: true }
  control.onProgress(message.percent)
  return undefined
}
