import { keepPreviousData, queryOptions } from '@tanstack/react-query'

import { hashOf } from '../../../client/src/lib/bytes.ts'
import { pause } from '../../../client/src/lib/pause.ts'
import { readQuery, responseOf, read, send, type Schema } from '../api/client.ts'
import { putFile } from '../api/upload.ts'
import { post } from '../tasks/queries.ts'
import type { Kind } from './kinds.ts'
import type { Body, Document } from './schema.ts'

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

/** Uploads a file, unless this user has before; returns the link that a body names it by. */
export const uploadFile = async (file: File, onProgress: (part: number) => void) => {
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
