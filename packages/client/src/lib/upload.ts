import type { components } from '../generated/openapi.ts'
import { requireNoPath } from './argument.ts'
import { hashOf, isFileBytes, openSource, requireSource, toBase64 } from './bytes.ts'
import type { FileBytes, UploadSource } from './bytes.ts'
import { KilnError } from './errors.ts'
import { responseOf } from './http.ts'
import type { Http } from './http.ts'
import { callOwn, OwnError, withRetries } from './retry.ts'

/** Links of an upload, and when they end. */
export type UploadLinks = components['schemas']['UploadLinks']

export interface UploadOptions {
  /** Without a folder. Default `file`. */
  fileName?: string | undefined
  contentType?: string | undefined
  /** Called with both links once the file is there. */
  onLinks?: ((links: UploadLinks) => void) | undefined
  signal?: AbortSignal | undefined
}

/** Uploads a file; returns its link, good for 24 hours. Bytes that the caller has uploaded before are not sent again. */
export const upload = async (
  http: Http,
  source: UploadSource,
  { fileName = 'file', contentType, onLinks, signal }: UploadOptions = {},
): Promise<string> => {
  requireSource('source', source)
  const hash = await hashOf(source)
  const body = {
    file_name: fileName,
    ...(contentType === undefined ? {} : { content_type: contentType }),
    ...(hash === undefined ? {} : { file_hash: hash }),
  }
  const asked = http.routes.POST('/customers/storage', { body, signal: signal ?? null })
  const links = await responseOf(asked)
  if (!links.existing_file) await putToLink(http, links.upload_url, { source, signal })
  onLinks?.(links)
  return links.download_url
}

interface SentBytes {
  source: UploadSource
  signal: AbortSignal | undefined
}

/** Sends bytes to a signed link, as `sendBytes` does. */
export const putToLink = async (http: Http, link: string, bytes: SentBytes): Promise<void> => {
  await sendBytes(http, bytes, (init) => http.sendToLink(link, { method: 'PUT', ...init }))
}

/** Sends bytes; again after an error that passes, unless they are a stream that was read. */
export const sendBytes = async (
  { retry }: Pick<Http, 'retry'>,
  { source, signal }: SentBytes,
  send: (init: RequestInit) => Promise<Response>,
): Promise<Response> => {
  requireSource('source', source)
  const isOnce = !isFileBytes(source) && typeof source !== 'function'
  const streamed = isFileBytes(source) ? {} : { duplex: 'half' as const }
  let isSpent = false
  return await withRetries(retry, signal, async () => {
    const message = 'the upload broke, and its stream cannot be read again: give a function'
    if (isSpent) throw new KilnError({ code: 'bytes_spent', message })
    isSpent = isOnce
    let own: OwnError | undefined
    const onError = (cause: unknown): void => {
      own = new OwnError(undefined, { cause })
    }
    const body = await callOwn(() => openSource(source, onError))
    return await send({ body, signal: signal ?? null, ...streamed }).catch((error: unknown) => {
      throw own ?? error
    })
  })
}

/** Members of bodies that are images; in their place a caller may give the bytes. */
export const IMAGE_MEMBERS = [
  'image',
  'images',
  'transfer_light_from_lightmap',
  'transfer_light_from_reference_image',
] as const
type ImageMember = (typeof IMAGE_MEMBERS)[number]

/** A body in which images may be bytes, and the time of its start a `Date`, too. */
export type WithBytes<Body> = {
  [Name in keyof Body]:
    | Body[Name]
    | (Name extends ImageMember
        ? Given<Body[Name]>
        : Name extends 'kiln_start_after'
          ? Date
          : never)
}
type Given<Value> = NonNullable<Value> extends string[] ? (string | FileBytes)[] : FileBytes

/** A body with links, or without a credential Base64, in the place of bytes. */
export const giveFiles = async (
  http: Http,
  body: object,
  signal: AbortSignal | undefined,
): Promise<object> => {
  const give = async (name: string, value: unknown): Promise<unknown> => {
    if (Array.isArray(value)) return await Promise.all(value.map((each) => give(name, each)))
    const isImage = (IMAGE_MEMBERS as readonly string[]).includes(name)
    if (typeof value === 'string' && isImage) requireNoPath(name, value)
    if (!isFileBytes(value)) return value
    return http.hasCredential ? await upload(http, value, { signal }) : await toBase64(value)
  }
  const given = await Promise.all(
    Object.entries(body).map(async ([name, value]) => [name, await give(name, value)] as const),
  )
  return Object.fromEntries(given)
}
