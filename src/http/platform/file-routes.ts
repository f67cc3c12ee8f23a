import { Type } from 'typebox'

import type { Signer } from '../../adapters/signing.ts'
import { StorageFault } from '../../adapters/storage/storage.ts'
import type { Storage } from '../../adapters/storage/storage.ts'
import type { Sql } from '../../db/client.ts'
import { withinDeadline } from '../../db/client.ts'
import { findFile } from '../../db/shared/file.ts'
import { apiError, ERROR_CODES } from '../../domain/shared/errors.ts'
import type { ApiError, ErrorCodeName } from '../../domain/shared/errors.ts'
import { UNKNOWN_MEDIA_TYPE } from '../../domain/shared/media-type.ts'
import { isUuid } from '../../domain/shared/uuid.ts'
import { OPEN_TO_ALL, planFile, sendFile } from '../serve/file-response.ts'
import { defineRoute } from '../route.ts'
import type { Route } from '../route.ts'

export interface FileRouteDeps {
  sql: Sql
  storage: Storage
  signer: Signer
  /** The clock that expiries are judged by. */
  now?: () => Date
}

/** The route behind every signed file link: results, stored inputs and uploads. */
export const makeFileRoutes = ({
  sql,
  storage,
  signer,
  now = () => new Date(),
}: FileRouteDeps): Route[] => [
  defineRoute({
    method: 'get',
    path: '/files/:id/:name',
    tag: 'Files',
    summary: 'Read a file by its signed link',
    description:
      'The link comes from a task. It needs no credential, works from any origin and in parts (Range), and also answers HEAD.',
    auth: 'none',
    params: Type.Object({
      id: Type.String({ description: 'Task or upload.' }),
      name: Type.String({ description: 'Name of the file within it.' }),
    }),
    query: Type.Object({
      expires: Type.String({ default: '', description: 'Unix seconds at which the link ends.' }),
      signature: Type.String({ default: '', description: 'HMAC-SHA256 in base64url.' }),
    }),
    requestHeaders: ['Range', 'If-None-Match', 'If-Range'],
    responses: FILE_RESPONSES,
    errors: [
      'signature_invalid',
      'link_expired',
      'file_not_found',
      'file_gone',
      'range_not_satisfiable',
    ],
    handler: async ({ params, query, incoming }) => {
      const verdict = signer.verifyFile({ ...params, ...query }, now())
      if (verdict !== 'ok') throw refusal(verdict)
      const file = await getFile({ sql, storage }, params)
      const maxAge = Math.max(0, Math.floor(Number(query.expires) - now().getTime() / 1000))
      const cacheControl = `private, max-age=${maxAge}`
      const served = { ...file, name: params.name, cacheControl }
      const plan = planFile(incoming.method, incoming.headers, served)
      if (incoming.method === 'HEAD' || plan.status === 304)
        return { stream: (response) => sendFile(response, plan, undefined) }
      return {
        stream: async (response) => {
          const { stream } = await storage.open(file.key, plan.range).catch(goneWhenMissing)
          await sendFile(response, plan, stream)
        },
      }
    },
  }),
]

const FILE_HEADERS = ['ETag', 'Accept-Ranges', 'Content-Disposition', 'Cache-Control'] as const

export const FILE_RESPONSES = {
  200: { description: 'The file, of its own type.', mediaType: '*/*', headers: FILE_HEADERS },
  206: {
    description: 'The part that Range asked for.',
    mediaType: '*/*',
    headers: [...FILE_HEADERS, 'Content-Range'] as const,
  },
  304: {
    description: 'The caller has the file already (If-None-Match).',
    headers: ['ETag', 'Cache-Control'] as const,
  },
}

const refusal = (code: ErrorCodeName): ApiError =>
  apiError(code, ERROR_CODES[code].meaning, { headers: OPEN_TO_ALL })

interface StoredFile {
  key: string
  size: number
  contentType: string
  sha256: string | undefined
}

/**
 * The file of a link. An upload may be replaced between the look at its row and the look at its file: then the row names
 * another one. Throws file_not_found, or file_gone when it was removed by age.
 */
const getFile = async (
  deps: Pick<FileRouteDeps, 'sql' | 'storage'>,
  name: { id: string; name: string },
  missing?: string,
): Promise<StoredFile> => {
  const { sql, storage } = deps
  const record = isUuid(name.id) ? await withinDeadline(sql, findFile(sql, name)) : undefined
  if (record === undefined) throw refusal('file_not_found')
  const { storage_key: key } = record
  if (record.gone || key === null || key === missing) throw refusal('file_gone')
  const stat = await storage.stat(key)
  if (stat === undefined) return await getFile(deps, name, key)
  return {
    key,
    size: stat.size,
    contentType: record.content_type ?? UNKNOWN_MEDIA_TYPE,
    sha256: record.sha256 ?? undefined,
  }
}

/** The sweep removes the file before it marks the row, and may do so between two steps of a request. */
const goneWhenMissing = (error: unknown): never => {
  throw error instanceof StorageFault && error.code === 'not_found' ? refusal('file_gone') : error
}
