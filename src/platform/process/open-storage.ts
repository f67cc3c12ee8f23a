import { lstat, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { inTime } from '../domain/in-time.ts'
import { makeLocalStorage } from '../storage/local.ts'
import { makeMovingStorage } from '../storage/moving.ts'
import { findShortage, MAKE_ROOM, readRoom, WHEN_FULL } from '../storage/room.ts'
import { isFull, type Storage } from '../storage/storage.ts'
import type { Log } from '../log.ts'
import { hasBucket } from '../storage/settings.ts'
import { timeStorage, type Metrics } from './metrics.ts'
import { readOutboundRules, type PlatformConfig } from '../settings/settings.ts'
import { OperatorError } from './operator-error.ts'

/** The store of the settings, with its operations timed. */
export const openStorage = async (config: PlatformConfig, metrics?: Metrics): Promise<Storage> => {
  const { to, from } = await openStores(config)
  const root = config.STORAGE === 'local' ? config.STORAGE_PATH : scratchOf(config)
  return timeStorage(metrics, from ? makeMovingStorage({ to, from }) : to, root)
}

/** The store that is written to, and where files move, the one that they come from. */
export const openStores = async (
  config: PlatformConfig,
): Promise<{ to: Storage; from: Storage | undefined }> => ({
  to: await openOne(config.STORAGE, config),
  from: config.STORAGE_ALSO === 'none' ? undefined : await openOne(config.STORAGE_ALSO, config),
})

/** The SDK of S3 is loaded where it is used. */
const openOne = async (
  kind: PlatformConfig['STORAGE'],
  config: PlatformConfig,
): Promise<Storage> => {
  if (kind === 'local') return makeLocalStorage({ root: config.STORAGE_PATH })
  const { makeS3Storage } = await loadS3()
  if (config.SCRATCH_PATH === '') await requireOwnFolder(scratchOf(config))
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = config
  const { link, ...store } = makeS3Storage({
    endpoint: config.S3_ENDPOINT || undefined,
    publicEndpoint: config.S3_PUBLIC_ENDPOINT || undefined,
    region: config.S3_REGION,
    bucket: config.S3_BUCKET,
    prefix: config.S3_PREFIX,
    pathStyle: config.S3_PATH_STYLE,
    credentials: accessKeyId === '' ? undefined : { accessKeyId, secretAccessKey },
    scratch: scratchOf(config),
    proxy: readOutboundRules(config).proxy,
  })
  return config.S3_REDIRECT === 'on' ? { ...store, link } : store
}

const scratchOf = ({ SCRATCH_PATH }: PlatformConfig): string =>
  SCRATCH_PATH || join(tmpdir(), `kiln-${process.getuid?.() ?? 'scratch'}`)

/** Whoever had made a folder of that name first could read and replace what comes to lie in it. */
const requireOwnFolder = async (path: string): Promise<void> => {
  await mkdir(path, { recursive: true, mode: 0o711 })
  if ((await lstat(path)).uid !== (process.getuid?.() ?? 0))
    throw new OperatorError(
      `${path} belongs to another user: set SCRATCH_PATH to a folder of this one`,
    )
}

const loadS3 = async () => {
  // It warns of versions of Node that its later releases will not take. The lock file names the release.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true'
  return await import('../storage/s3.ts')
}

/** Says that the store of the settings is full, what follows, and what to do. */
export const describeFull = ({ STORAGE, STORAGE_PATH, S3_BUCKET }: PlatformConfig): string =>
  `the store is full (${STORAGE === 's3' ? `the bucket ${S3_BUCKET}` : STORAGE_PATH}): ${WHEN_FULL}: ${MAKE_ROOM}`

/** Throws an OperatorError of a store that is full, and the store's own error of one that cannot be used. */
export const probeStorage = async (storage: Storage, config: PlatformConfig): Promise<void> => {
  await storage.check().catch((error: unknown) => {
    throw isFull(error) ? new OperatorError(describeFull(config)) : error
  })
}

/** Finds a shortage of room in a local store; undefined of a bucket, and where its folder cannot be read. */
export const findStoreShortage = async ({ STORAGE, STORAGE_PATH }: PlatformConfig) =>
  STORAGE === 's3'
    ? undefined
    : await inTime(readRoom(STORAGE_PATH), ROOM_MS, 'storage').then(findShortage, () => undefined)

/** A folder of a server that is away never says how full it is. */
const ROOM_MS = 1000

/** Returns what an operator does about an error of the store that stays until then; undefined for one that may pass. */
export const adviseStorage = async (
  config: PlatformConfig,
  error: unknown,
): Promise<string | undefined> =>
  hasBucket(config) ? (await import('../storage/s3-client.ts')).adviseS3(error) : undefined

/**
 * Opens the store and looks whether a bucket can be written. Ends the process when that needs an operator, and says what
 * to do. A server that does not respond may come back: the service starts without it.
 */
export const requireStorage = async (
  config: PlatformConfig,
  { metrics, log }: { metrics: Metrics | undefined; log: Log },
): Promise<Storage> => {
  const storage = await openStorage(config, metrics)
  if (!hasBucket(config)) return storage
  await storage.check().catch(async (error: unknown) => {
    const advice = await adviseStorage(config, error)
    if (advice === undefined) return log.warn({ err: error }, 'the store does not respond')
    log.fatal({ err: error }, `the store cannot be used: ${advice}`)
    process.exit(1)
  })
  return storage
}

/** Lists the origins of the store's links: none, or its one. */
export const readOrigins = async (storage: Storage): Promise<string[]> => {
  const response = { contentType: '', disposition: '', cacheControl: '', ends: 0 }
  const link = await storage.link?.('origin', response).catch(() => undefined)
  return link === undefined ? [] : [new URL(link).origin]
}
