import { parentPort } from 'node:worker_threads'
import { InputError, type InputErrorCode } from './input-error.ts'
import type { ImageJob, RenderedImage } from './image-job.ts'
import { renderImage } from './image/render.ts'

/** Message to the thread. Messages come back; every order ends with one of the last three types. */
export interface RenderOrder {
  job: ImageJob
  /** Largest input, in pixels. */
  maxPixels: number
}

export type RenderMessage =
  | { type: 'progress'; percent: number }
  | { type: 'rendered'; images: RenderedImage[] }
  | { type: 'error'; code: InputErrorCode; sentence: string | undefined }
  | { type: 'failure'; cause: string }

const port = parentPort
if (!port) throw new Error('render-thread is the program of a thread, not of a process')
const send = (message: RenderMessage): void => port.postMessage(message)

const work = async ({ job, maxPixels }: RenderOrder): Promise<void> => {
  const reported = { percent: 0 }
  const onProgress = (percent: number) => {
    if (Math.floor(percent) <= reported.percent) return
    reported.percent = Math.floor(percent)
    send({ type: 'progress', percent: reported.percent })
  }
  send({ type: 'rendered', images: await renderImage(job, { maxPixels, onProgress }) })
}

port.on('message', (order: RenderOrder) => {
  work(order).catch((cause: unknown) => {
    if (cause instanceof InputError)
      send({ type: 'error', code: cause.code, sentence: cause.sentence })
    else send({ type: 'failure', cause: cause instanceof Error ? `${cause.stack}` : String(cause) })
  })
})
