import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import {
  AbortMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  paginateListObjectsV2,
} from '@aws-sdk/client-s3'
import type { GetObjectCommandOutput, S3Client } from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'

import { makeSemaphore } from '../domain/semaphore.ts'
import { makeMeasure } from './measure.ts'
import { readBody } from './s3-body.ts'
import { untilAllEnd } from './files.ts'
import { hide, isMissing, makeS3Client, type S3Options } from './s3-client.ts'
import { cleanUpFolder } from './scratch.ts'
import { keySegments, StorageError, type Storage } from './storage.ts'

export interface S3StorageOptions extends S3Options {
  /** Folder of this machine for unfinished files. */
  scratch: string
  /** Address of the server in links; absent: `endpoint`. */
  publicEndpoint?: string | undefined
}

/** The least that S3 takes. What is shorter goes in one request. */
const PART_BYTES = 5 * 2 ** 20
/** Parts of one file that are sent at once. */
const PARTS = 2
/**
 * Files that are sent at once: of several parts, and of one, which do not wait behind those. Their parts are 40 MiB, and the
 * SDK copies each once.
 */
const LARGE = 2
const SMALL = 4
/** Longest wait for a turn. */
const PATIENCE_MS = 60_000
const REMOVALS = 16
const LINK_SECONDS = 900
const LINK_STEP = 300
/** Parts of a killed process may go after a day, which no write takes, and are looked for each hour. */
const LEFT_MS = 86_400_000
const POLL_MS = 3_600_000

interface Bucket {
  client: S3Client
  Bucket: string
  /** Begins the name of every object: empty, or with a slash at its end. */
  root: string
}

/**
 * Keeps files in a bucket. S3 shows an object when all of it has come, so no other process sees a part of one. Every key
 * is written by one attempt alone, or named by its content: nothing depends on who comes first. Unfinished files lie in a
 * folder of this machine.
 */
export const makeS3Storage = ({
  scratch,
  publicEndpoint: endpoint,
  ...options
}: S3StorageOptions): Required<Storage> => {
  const root = options.prefix === '' ? '' : `${options.prefix}/`
  const bucket = { client: makeS3Client(options), Bucket: options.bucket, root }
  // It signs alone, and never connects.
  const signing = endpoint === undefined ? bucket.client : makeS3Client({ ...options, endpoint })
  const [small, large] = [makeSemaphore(SMALL), makeSemaphore(LARGE)]
  const write = (key: string, bytes: number, open: () => Readable): Promise<void> =>
    (bytes > PART_BYTES ? large : small)
      .run(() => send(bucket, key, open()), PATIENCE_MS)
      .catch(hide('PutObject'))
  const remove = async (key: string): Promise<void> => {
    await bucket.client
      .send(new DeleteObjectCommand(place(bucket, key)))
      .catch(hide('DeleteObject'))
      .catch(unlessMissing)
  }
  const list = async (prefix: string): Promise<string[]> => await listKeys(bucket, folderOf(prefix))
  let checkedAt = 0
  const storage: Required<Storage> = {
    scratchDir: async (purpose = 'other') => {
      const folder = join(scratch, ...keySegments(purpose))
      // Other users of the machine may pass, as the children of a media worker do, but not look.
      await mkdir(scratch, { recursive: true, mode: 0o711 })
      await mkdir(folder, { recursive: true })
      return folder
    },
    putFile: async (key, path) => {
      place(bucket, key)
      const { size } = await stat(path)
      await write(key, size, () => createReadStream(path, { highWaterMark: 2 ** 20 }))
      await rm(path, { force: true })
    },
    putFiles: async (folder, files) =>
      await untilAllEnd(
        Object.entries(files).map(([name, file]) =>
          typeof file === 'string'
            ? storage.putFile(`${folder}/${name}`, file)
            : write(`${folder}/${name}`, file.length, () => Readable.from([file])),
        ),
      ),
    putStream: async (key, readable, { maxBytes }) => {
      place(bucket, key)
      const measure = makeMeasure(maxBytes)
      await write(key, maxBytes, () => Readable.from(measure.pass(readable), { objectMode: false }))
      return measure.digest()
    },
    open: async (key, range) => {
      const get = makeGet(bucket, key)
      const first = await get(range && `bytes=${range.start}-${range.end}`).catch(notFound(key))
      const { start, end, size } = describe(first, range !== undefined)
      const reopen = async (at: number) => toStream(await get(`bytes=${at}-${end - 1}`, first.ETag))
      return { stream: readBody(toStream(first), { start, end, reopen }), size }
    },
    link: async (key, { contentType, disposition, cacheControl, ends }) => {
      const command = new GetObjectCommand({
        ...place(bucket, key),
        ResponseContentType: contentType,
        ResponseContentDisposition: disposition,
        ResponseCacheControl: cacheControl,
      })
      // Those made within five minutes are equal, so that a browser need not load a picture twice.
      const start = Math.floor(Date.now() / 1000 / LINK_STEP) * LINK_STEP
      const expiresIn = Math.max(1, Math.min(LINK_SECONDS, ends - start))
      const signingDate = new Date(start * 1000)
      return await getSignedUrl(signing, command, { expiresIn, signingDate })
    },
    stat: async (key) => {
      const head = await bucket.client
        .send(new HeadObjectCommand(place(bucket, key)))
        .catch(hide('HeadObject'))
        .catch(unlessMissing)
      return head && { size: head.ContentLength ?? 0, writtenAt: head.LastModified?.getTime() ?? 0 }
    },
    fetchToFile: async (key, path) => {
      const { stream } = await storage.open(key)
      await rm(path, { force: true })
      await pipeline(stream, createWriteStream(path, { flags: 'wx' }))
    },
    remove,
    removePrefix: async (prefix) => {
      const keys = await list(keySegments(prefix.replace(/\/$/, '')).join('/'))
      // One by one: DeleteObjects needs a checksum that not every server knows, and folders are small.
      for (let at = 0; at < keys.length; at += REMOVALS)
        await Promise.all(keys.slice(at, at + REMOVALS).map(remove))
    },
    list,
    listFolders: (prefix) => listFolders(bucket, folderOf(prefix)),
    check: () => checkWrite(bucket),
    cleanUpTemporary: async (olderThanMs, purpose) => {
      const cleaned = await cleanUpFolder(scratch, olderThanMs, purpose)
      if (purpose === undefined) return cleaned + (await cleanUpParts(bucket, olderThanMs))
      if (Date.now() - checkedAt < POLL_MS) return cleaned
      checkedAt = Date.now()
      return cleaned + (await cleanUpParts(bucket, Math.max(olderThanMs, LEFT_MS)))
    },
  }
  return storage
}

/** Returns the members that name an object in a command. Throws `key_invalid`. */
const place = ({ Bucket, root }: Bucket, key: string): { Bucket: string; Key: string } => ({
  Bucket,
  Key: root + keySegments(key).join('/'),
})

/** The folder of a prefix: empty for all, or with a slash at its end. */
const folderOf = (prefix: string): string =>
  prefix === '' ? '' : `${keySegments(prefix.replace(/\/$/, '')).join('/')}/`

/** One request for what fits into a part, else parts, which are aborted when one of them fails. */
const send = async (bucket: Bucket, key: string, body: Readable): Promise<void> => {
  const params = { ...place(bucket, key), Body: body }
  const options = { client: bucket.client, params, partSize: PART_BYTES, queueSize: PARTS }
  // A write that failed has not read all of it.
  await new Upload(options).done().finally(() => body.destroy())
}

const makeGet =
  (bucket: Bucket, key: string) =>
  (range: string | undefined, etag?: string): Promise<GetObjectCommandOutput> =>
    bucket.client
      .send(
        new GetObjectCommand({
          ...place(bucket, key),
          ...(range !== undefined && { Range: range }),
          // A body that goes on is one of the same object.
          ...(etag !== undefined && { IfMatch: etag }),
        }),
      )
      .catch(hide('GetObject'))

const toStream = ({ Body }: GetObjectCommandOutput): Readable => {
  if (!(Body instanceof Readable)) throw new Error('S3 GetObject: the response has no body')
  return Body
}

/** Returns which bytes a response holds, and of how many. */
const describe = (
  { ContentRange = '', ContentLength = 0 }: GetObjectCommandOutput,
  isPart: boolean,
): { start: number; end: number; size: number } => {
  if (!isPart) return { start: 0, end: ContentLength, size: ContentLength }
  const [start = 0, last = 0, size = 0] = ContentRange.match(/\d+/g)?.map(Number) ?? []
  if (size === 0) throw new Error('S3 GetObject: the server does not know Range')
  return { start, end: last + 1, size }
}

const unlessMissing = (error: unknown): undefined => {
  if (!isMissing(error)) throw error
}

const notFound = (key: string) => (error: unknown) => {
  if (!isMissing(error)) throw error
  throw new StorageError('not_found', `no file ${key}`, { cause: error })
}

const listKeys = async ({ client, Bucket, root }: Bucket, folder: string): Promise<string[]> => {
  const keys: string[] = []
  try {
    for await (const { Contents = [] } of paginateListObjectsV2(
      { client },
      { Bucket, Prefix: root + folder },
    ))
      keys.push(...Contents.map(({ Key = '' }) => Key.slice(root.length)))
  } catch (error) {
    hide('ListObjectsV2')(error)
  }
  // Servers show folders of their own as objects.
  return keys.filter((key) => !key.endsWith('/')).toSorted()
}

async function* listFolders(
  { client, Bucket, root }: Bucket,
  folder: string,
): AsyncGenerator<string> {
  const at = root + folder
  const query = { Bucket, Prefix: at, Delimiter: '/' }
  try {
    for await (const { CommonPrefixes = [] } of paginateListObjectsV2({ client }, query))
      for (const { Prefix = '' } of CommonPrefixes) yield Prefix.slice(at.length, -1)
  } catch (error) {
    hide('ListObjectsV2')(error)
  }
}

/** Begins a write and ends it without an object, which leaves no version in a bucket that keeps them. */
const checkWrite = async ({ client, Bucket, root }: Bucket): Promise<void> => {
  const at = { Bucket, Key: `${root}check` }
  const { UploadId } = await client
    .send(new CreateMultipartUploadCommand(at))
    .catch(hide('CreateMultipartUpload'))
  await client
    .send(new AbortMultipartUploadCommand({ ...at, UploadId }))
    .catch(hide('AbortMultipartUpload'))
}

/** Aborts what killed processes have left of their writes. */
const cleanUpParts = async ({ client, Bucket, root }: Bucket, ageMs: number): Promise<number> => {
  const { Uploads = [] } = await client
    .send(new ListMultipartUploadsCommand({ Bucket, Prefix: root }))
    .catch(hide('ListMultipartUploads'))
  const left = Uploads.filter(({ Initiated }) => (Initiated?.getTime() ?? 0) <= Date.now() - ageMs)
  for (const { Key, UploadId } of left)
    await client
      .send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }))
      .catch(hide('AbortMultipartUpload'))
  return left.length
}
