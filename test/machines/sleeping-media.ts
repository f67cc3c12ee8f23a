import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { NativeConnection, Worker } from '@temporalio/worker'

import type { MediaDependencies } from '../support/media.ts'
import { makeLocalImages, makeRenderImageTask } from '../../activities/engines/render-image-task.ts'
import type { ImageEngine } from '../../src/engines/image-engine/image-engine.ts'
import { loadConfig } from '../../src/config.ts'
import { makeDatabase } from '../../src/platform/db/client.ts'
import { mediaQueue } from '../../src/platform/temporal/start.ts'
import { makeLog } from '../../src/platform/log.ts'
import { openStorage } from '../../src/platform/process/open-storage.ts'
import { startScratch } from '../../src/platform/process/scratch.ts'
import { readMediaLimits } from '../../src/tasks/settings.ts'

/** Description of the picture that is copied; nobody reads it. */
const RESULT = { contentType: 'image/png', extension: 'png', width: 16, height: 16 } as const

/** Sleeps, and returns its input. */
const engine: ImageEngine = {
  name: 'sleep',
  async render({ inputs, scratchDir }) {
    await sleep(Number(process.env['SLEEP_MS']))
    const file = join(scratchDir, 'result.png')
    await copyFile(inputs.image?.path ?? '', file)
    return [{ file, ...RESULT }]
  },
  close: async () => {},
}

const config = loadConfig('worker')
const log = makeLog('worker-media', config.LOG_LEVEL)
const storage = await openStorage(config)
const sql = makeDatabase({
  url: config.DATABASE_URL,
  pool: config.DATABASE_POOL,
  name: 'kiln worker media',
  statementTimeoutMs: 10_000,
})
const { dir } = await startScratch('render', { storage, log })
const limits = readMediaLimits(config)
const deps: Partial<MediaDependencies> = { sql, storage, log, engine, scratchDir: dir, limits }
const full = deps as MediaDependencies
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address: config.TEMPORAL_ADDRESS }),
  namespace: config.TEMPORAL_NAMESPACE,
  taskQueue: mediaQueue(config.TASK_QUEUE),
  activities: { renderImageTask: makeRenderImageTask(full, makeLocalImages(full)) },
  maxConcurrentActivityTaskExecutions: config.MEDIA_SLOTS,
})
log.info('worker ready')
await worker.run()
