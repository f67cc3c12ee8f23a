import { parentPort } from 'node:worker_threads'
import type { ImageJob } from '../../src/adapters/image-engine/image-engine.ts'
import { renderImage } from '../../src/adapters/image-engine/render.ts'

export interface BareOrder {
  job: ImageJob
  maxPixels: number
}

const answer = async ({ job, maxPixels }: BareOrder): Promise<void> => {
  const start = performance.now()
  await renderImage(job, { maxPixels, onProgress: () => {} })
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is not a window
  parentPort?.postMessage((performance.now() - start) / 1000)
}

/** A thread that renders by direct calls and answers each order with the seconds they took. */
parentPort?.on('message', (order: BareOrder) => void answer(order))
