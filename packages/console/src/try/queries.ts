import { keepPreviousData, queryOptions } from '@tanstack/react-query'

import { hashOf } from '../../../client/src/lib/bytes.ts'
import { pause } from '../../../client/src/lib/pause.ts'
import { readQuery, responseOf, read, send, type Schema } from '../api/client.ts'
import { putFile, readAsset, readType } from '../api/upload.ts'
import portrait from '../home/portrait.webp'
import { post } from '../tasks/queries.ts'
import type { Kind } from './kinds.ts'
import type { Body, Document } from './schema.ts'
import { EXAMPLE } from './snippets.ts'

export const documentQuery = queryOptions({
  queryKey: ['document'],
  queryFn: async ({ signal }) => (await read('/openapi.json', {}, signal)) as unknown as Document,
  staleTime: Infinity,
})

/** Kinds that the service's operator has added; they may change at any time. */
export const templatesQuery = readQuery('/templates', {})

/** The caller's newest videos. */
export const videosQuery = readQuery('/tasks', {
  query: {
    kind: ['text2video', 'img2video', 'start-end2video', 'extend'],
    state: ['done'],
    limit: 12,
  },
})

/** Milliseconds without a change, after which the price is asked for. */
const PAUSE_MS = 300

/** Query of the cost and duration of a request, or of all its issues. */
export const dryRunQuery = ({ path }: Kind, body: Body) =>
  queryOptions({
    queryKey: ['dry-run', path, body],
    queryFn: async ({ signal }) => {
      await pause(PAUSE_MS, signal)
      const init = { params: { query: { dry_run: true } }, body, signal }
      return (await responseOf(post(path, init))) as Schema<'DryRun'>
    },
    placeholderData: keepPreviousData,
    gcTime: 60_000,
  })

/** Key of all uploads, which a request waits for. */
export const UPLOADS = ['upload']

/** Media types of files, as a field accepts them. */
export type Accepted = 'image/*' | 'video/*'

const isOf = (accept: Accepted, type: string): boolean => type.startsWith(accept.slice(0, -1))

interface Uploading {
  accept: Accepted
  onProgress?(part: number): void
}

/**
 * Uploads a file, unless this user has before; returns the link that a body names it by, or null where it is none of those
 * that the field accepts, by its name or by the bytes that the service has seen.
 */
export const uploadFile = async (
  file: File,
  { accept, onProgress = () => {} }: Uploading,
): Promise<string | null> => {
  if (file.type !== '' && !isOf(accept, file.type)) return null
  const link = await uploadAny(file, onProgress)
  const found = await readType(link)
  // A drawing is text, which no first bytes show.
  return isOf(accept, found) || file.type === 'image/svg+xml' ? link : null
}

/** Uploads a file of any kind, unless this user has before; returns its link. */
export const uploadAny = async (
  file: File,
  onProgress = (_part: number) => {},
): Promise<string> => {
  // Away from https and localhost a browser has no digest; then the bytes are sent.
  const hash = isSecureContext ? await hashOf(new Uint8Array(await file.arrayBuffer())) : undefined
  const body = {
    file_name: file.name || 'picture',
    content_type: file.type || undefined,
    file_hash: hash,
  }
  const links = await send('POST', '/customers/storage', { body })
  if (!links.existing_file) await putFile(links.upload_url, file, { onProgress })
  return links.download_url
}

/** Body of the request that made the example. */
export const exampleQuery = queryOptions({
  queryKey: ['example'],
  queryFn: async () => {
    const file = await readAsset(portrait, 'Portrait.webp')
    return { ...EXAMPLE, image: await uploadFile(file, { accept: 'image/*' }) }
  },
  gcTime: 0,
})
