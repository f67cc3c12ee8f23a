import { parentPort } from 'node:worker_threads'
import { TaskFault } from '../../domain/task/task-fault.ts'
import type { TaskFaultCode } from '../../domain/task/task-fault.ts'
import type { ImageJob, RenderedImage } from './image-engine.ts'
import { renderImage } from './render.ts'

/** What the engine sends to its thread, and what comes back; every order ends with one of the last three. */
export interface RenderOrder {
  job: ImageJob
  maxPixels: number
}

export type RenderNews =
  | { type: 'progress'; percent: number }
  | { type: 'rendered'; images: RenderedImage[] }
  | { type: 'fault'; code: TaskFaultCode; message: string }
  | { type: 'failure'; cause: string }

const port = parentPort
if (!port) throw new Error('render-thread is started by the image engine, not by itself')
const tell = (news: RenderNews): void => port.postMessage(news)

const work = async ({ job, maxPixels }: RenderOrder): Promise<void> => {
  const told = { percent: 0 }
  const onProgress = (percent: number) => {
    if (Math.floor(percent) <= told.percent) return
    told.percent = Math.floor(percent)
    tell({ type: 'progress', percent: told.percent })
  }
  tell({ type: 'rendered', images: await renderImage(job, { maxPixels, onProgress }) })
}

port.on('message', (order: RenderOrder) => {
  work(order).catch((cause: unknown) => {
    if (cause instanceof TaskFault)
      tell({ type: 'fault', code: cause.code, message: cause.message })
    else tell({ type: 'failure', cause: cause instanceof Error ? `${cause.stack}` : String(cause) })
  })
})
