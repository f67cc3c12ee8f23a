import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'

import { Type } from 'typebox'

import type { Signer } from '../../platform/adapters/signing.ts'
import { StorageError, type Storage } from '../../platform/storage/storage.ts'
import { withinDeadline, type Sql } from '../../platform/db/client.ts'
import { findFile, type FileRecord } from '../db/file.ts'
import { apiError, ERROR_CODES, errors } from '../../platform/domain/errors.ts'
import type { ApiError, ErrorCodeName } from '../../platform/domain/errors.ts'
import { UNKNOWN_MEDIA_TYPE } from '../../platform/domain/media-type.ts'
import { isUuid } from '../../platform/domain/uuid.ts'
import {
  OPEN_TO_ALL,
  planFile,
  sendFile,
  type FilePlan,
} from '../../platform/http/serve/file-response.ts'
import { defineRoute, type Route } from '../../platform/http/route.ts'

export interface FileRouteDeps {
  sql: Sql
  /** One that has links sends callers of pictures and videos there. */
  storage: Storage
  signer: Signer
  /** The clock that expiries are checked by. */
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
    unread: 'ignored',
    tag: 'Files',
    summary: 'Read a file by its signed link',
    description:
      'The link comes from a task. It needs no credential, works from any origin and in parts (Range), and also responds to HEAD.',
    auth: 'none',
    params: Type.Object({
      id: Type.String({ description: 'Task or upload.' }),
      name: Type.String({ description: 'Name of the file within it.' }),
    }),
    query: Type.Object({
      expires: Type.String({ default: '', description: 'Unix seconds at which the link ends.' }),
      signature: Type.String({ default: '', description: 'HMAC-SHA256 in base64url.' }),
      redirect: Type.Enum(['0', '1'], {
        default: '1',
        description: 'With 0 the service sends the bytes itself, where it would return 307.',
      }),
    }),
    requestHeaders: ['Range', 'If-None-Match', 'If-Range'],
    responses: { ...FILE_RESPONSES, 307: MOVED },
    errors: [
      'signature_invalid',
      'link_expired',
      'file_not_found',
      'file_gone',
      'range_not_satisfiable',
    ],
    handler: async ({ params, query, incoming }) => {
      const verdict = signer.verifyFile({ ...params, ...query }, now())
      if (verdict !== 'ok') throw rejection(verdict)
      const maxAge = Math.max(0, Math.floor(Number(query.expires) - now().getTime() / 1000))
      const cacheControl = `private, max-age=${maxAge}`
      const ends = query.redirect === '1' ? Number(query.expires) : undefined
      return {
        stream: async (response) => {
          const request = { params, incoming, cacheControl, ends }
          const { plan, stream, location } = await openFile({ sql, storage }, request)
          if (location === undefined) await sendFile(response, plan, stream)
          else response.writeHead(307, { ...OPEN_TO_ALL, ...NOT_KEPT, location }).end()
        },
      }
    },
  }),
]

const NOT_KEPT = { 'cache-control': 'no-store' }

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

const MOVED = {
  description:
    'The file is at the address in Location for some minutes (S3_REDIRECT); a Range is repeated there.',
  headers: ['Location', 'Cache-Control'] as const,
}

const rejection = (code: ErrorCodeName): ApiError =>
  apiError(code, ERROR_CODES[code].meaning, { headers: OPEN_TO_ALL })

interface FileRequest {
  params: { id: string; name: string }
  incoming: Pick<IncomingMessage, 'method' | 'headers'>
  cacheControl: string
  /** When a link of the store ends at the latest, in unix seconds; absent where the bytes must pass through here. */
  ends: number | undefined
}

interface OpenedFile {
  plan: FilePlan
  stream?: Readable
  location?: string
}

/**
 * Plans the response by the row alone where it knows the size, and opens the file if bytes are to be sent. Before the
 * file is opened, an upload may be replaced, and a file past its age removed: then the row names another file, or none.
 * Throws file_not_found, or file_gone when it was removed by age.
 */
const openFile = async (
  deps: Pick<FileRouteDeps, 'sql' | 'storage'>,
  request: FileRequest,
  missing?: string,
): Promise<OpenedFile> => {
  const { params, incoming, cacheControl } = request
  const { storage_key: key, ...record } = await getFile(deps, params)
  if (record.gone || key === null || key === missing) throw rejection('file_gone')
  const size = record.bytes ?? (await deps.storage.stat(key).catch(rejectForNow))?.size
  if (size === undefined) return await openFile(deps, request, key)
  const plan = planFile(incoming.method, incoming.headers, {
    name: savedName(params, record.result_of),
    size,
    contentType: record.content_type ?? UNKNOWN_MEDIA_TYPE,
    sha256: record.sha256 ?? undefined,
    cacheControl: record.replaceable ? 'private, no-cache' : cacheControl,
  })
  if (incoming.method === 'HEAD' || plan.status === 304) return { plan }
  const location = await linkTo(deps, key, plan, request)
  if (location !== undefined) return { plan, location }
  const opened = await deps.storage.open(key, plan.range).catch(unlessMissing)
  return opened ? { plan, stream: opened.stream } : await openFile(deps, request, key)
}

/** Name under which a file is saved. A result's name says what made it, because all results have the same few names. */
const savedName = ({ id, name }: { id: string; name: string }, kind: string | null): string =>
  kind === null
    ? name
    : `${kind.replaceAll('/', '-')}-${id.slice(0, 8)}-${name.replace('result-', '')}`

/** Files of any other type are served here, where headers forbid a browser to run anything. */
const SHOWN = /^(image|video)\//

const linkTo = async (
  { storage }: Pick<FileRouteDeps, 'storage'>,
  key: string,
  { headers }: FilePlan,
  { ends }: FileRequest,
): Promise<string | undefined> => {
  const { 'content-type': contentType = '', 'content-disposition': disposition = '' } = headers
  if (ends === undefined || !SHOWN.test(contentType)) return undefined
  const response = { contentType, disposition, cacheControl: 'private, max-age=600', ends }
  return await storage.link?.(key, response).catch(rejectForNow)
}

const getFile = async (
  { sql }: Pick<FileRouteDeps, 'sql'>,
  name: { id: string; name: string },
): Promise<FileRecord> => {
  const record = isUuid(name.id) ? await withinDeadline(sql, findFile(sql, name)) : undefined
  if (record === undefined) throw rejection('file_not_found')
  return record
}

/** A link is good for hours: what the store cannot give now, it can give later. */
const rejectForNow = (error: unknown): never => {
  throw errors.unavailable(error)
}

const unlessMissing = (error: unknown): undefined => {
  if (!(error instanceof StorageError && error.code === 'not_found')) rejectForNow(error)
}
