import { access, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import envPaths from 'env-paths'

import { startChild, untilReady } from '../../src/local/child.ts'
import { findPort } from '../../src/local/port.ts'
import { waitFor } from './wait.ts'

export const S3_SERVER_VERSION = '1.8.0'
const { cache } = envPaths('kiln', { suffix: '' })
export const S3_SERVER = join(cache, `s3-server-${S3_SERVER_VERSION}`, 'versitygw')

/** Why the server cannot be started; undefined when it is built. */
export const whyNoS3Server = async (): Promise<string | undefined> =>
  await access(S3_SERVER).then(
    () => undefined,
    () => `no ${S3_SERVER}: \`node tools/run.mjs tools/s3-server.ts\` builds it`,
  )

const BUCKET = 'kiln'
const CREDENTIALS = { accessKeyId: 'kiln-test', secretAccessKey: 'secret-of-kiln-test' }

export type S3Server = Awaited<ReturnType<typeof startS3Server>>

/** Starts an S3 server with one bucket in a folder of its own. Throws when it is not built. */
export const startS3Server = async () => {
  const missing = await whyNoS3Server()
  if (missing !== undefined) throw new Error(missing)
  // Not in memory: the server keeps what it knows of an object in extended attributes.
  const root = await mkdtemp(join(tmpdir(), 'kiln-s3-'))
  /** The folder of the bucket, which has each object as a file of its key. */
  const folder = join(root, 'data', BUCKET)
  await mkdir(folder, { recursive: true })
  const address = `127.0.0.1:${await findPort()}`
  const endpoint = `http://${address}`
  const child = await startChild({
    name: 'versitygw',
    command: S3_SERVER,
    args: ['--port', address, '--keep-alive', '--quiet', 'posix', join(root, 'data')],
    env: {
      PATH: process.env['PATH'],
      ROOT_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
      ROOT_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    },
    cwd: root,
    stopSignal: 'SIGTERM',
    deathSignal: 'SIGKILL',
    stopMs: 5000,
    logPath: join(root, 'versitygw.log'),
  })
  const stop = async (): Promise<void> => {
    await child.kill()
    await rm(root, { recursive: true, force: true })
  }
  const responds = () => fetch(endpoint).catch(() => false as const)
  await untilReady(child, 'versitygw', async () => {
    await waitFor('the S3 server', responds)
  }).catch(async (error: unknown) => {
    await stop()
    throw error
  })
  /** Options that a store below a prefix is made with. */
  const optionsOf = (prefix: string) => ({
    endpoint,
    region: 'us-east-1',
    bucket: BUCKET,
    prefix,
    pathStyle: true,
    credentials: CREDENTIALS,
  })
  /** Settings of a service that keeps its files there. */
  const settings = {
    STORAGE: 's3',
    S3_ENDPOINT: endpoint,
    S3_BUCKET: BUCKET,
    S3_PATH_STYLE: 'true',
    S3_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    S3_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
  }
  return { endpoint, folder, settings, optionsOf, stop }
}
