import { parentPort } from 'node:worker_threads'
import { TaskError, type TaskErrorCode } from '../../domain/task/task-error.ts'
import type { ImageJob, RenderedImage } from './image-engine.ts'
import { renderImage } from './render.ts'

/** Message of the engine to its thread. Messages come back; every order ends with one of the last three types. */
export interface RenderOrder {
  job: ImageJob
  maxPixels: number
}

export type RenderMessage =
  | { type: 'progress'; percent: number }
  | { type: 'rendered'; images: RenderedImage[] }
  | { type: 'error'; code: TaskErrorCode; message: string }
  | { type: 'failure'; cause: string }

const port = parentPort
if (!port) throw new Error('render-thread is started by the image engine, not by itself')
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
    if (cause instanceof TaskError)
      send({ type: 'error', code: cause.code, message: cause.message })
    else send({ type: 'failure', cause: cause instanceof Error ? `${cause.stack}` : String(cause) })
  })
})
