import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'

import { makeLocalStorage } from '../adapters/storage/local.ts'
import type { Storage } from '../adapters/storage/storage.ts'
import type { Log } from '../log.ts'
import { timeStorage } from './metrics.ts'
import type { Metrics } from './metrics.ts'
import type { Config } from './settings/env.ts'

/** The store of the settings, with its operations timed. The SDK of S3 is loaded where it is used. */
export const openStorage = async (config: Config, metrics?: Metrics): Promise<Storage> => {
  const { STORAGE_PATH: root } = config
  if (config.STORAGE === 'local') return timeStorage(metrics, makeLocalStorage({ root }), root)
  const { makeS3Storage } = await loadS3()
  const scratch = config.SCRATCH_PATH || join(tmpdir(), `kiln-${userInfo().username}`)
  const store = makeS3Storage({
    endpoint: config.S3_ENDPOINT || undefined,
    region: config.S3_REGION,
    bucket: config.S3_BUCKET,
    prefix: config.S3_PREFIX,
    pathStyle: config.S3_PATH_STYLE,
    credentials:
      config.S3_ACCESS_KEY_ID === ''
        ? undefined
        : { accessKeyId: config.S3_ACCESS_KEY_ID, secretAccessKey: config.S3_SECRET_ACCESS_KEY },
    scratch,
  })
  return timeStorage(metrics, store, scratch)
}

const loadS3 = async () => {
  // It warns of versions of Node that its later releases will not take. The lock file names the release.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true'
  return await import('../adapters/storage/s3.ts')
}

/** What an operator does about a fault of the store that stays until then; undefined for one that may pass. */
export const adviseStorage = async (
  { STORAGE }: Pick<Config, 'STORAGE'>,
  error: unknown,
): Promise<string | undefined> =>
  STORAGE === 'local'
    ? undefined
    : (await import('../adapters/storage/s3-client.ts')).adviseS3(error)

/**
 * Opens the store and looks whether a bucket can be written. Ends the process when that needs an operator, and says what
 * to do. A server that does not answer may come back: the service starts without it.
 */
export const requireStorage = async (
  config: Config,
  { metrics, log }: { metrics: Metrics | undefined; log: Log },
): Promise<Storage> => {
  const storage = await openStorage(config, metrics)
  if (config.STORAGE === 'local') return storage
  await storage.check().catch(async (error: unknown) => {
    const advice = await adviseStorage(config, error)
    if (advice === undefined) return log.warn({ err: error }, 'the store does not answer')
    log.fatal({ err: error }, `the store cannot be used: ${advice}`)
    process.exit(1)
  })
  return storage
}
