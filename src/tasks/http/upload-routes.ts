import { randomUUID } from 'node:crypto'

import { Type } from 'typebox'

import type { UploadClaim } from '../../platform/adapters/signing.ts'
import { insertAudit } from '../../platform/db/audit-log.ts'
import { unitOfWork } from '../../platform/db/unit-of-work.ts'
import { existsUpload, expireUpload, insertUpload, lockUpload, renewUpload } from '../db/upload.ts'
import type { Upload } from '../db/upload.ts'
import { purgeUpload } from '../db/purge.ts'
import { auditTarget } from '../../platform/domain/audit-log.ts'
import { apiError, errors, shown } from '../../platform/domain/errors.ts'
import { isUuid } from '../../platform/domain/uuid.ts'
import { NewUpload, UPLOAD_MAX_BYTES, UploadLinks } from '../../platform/domain/upload.ts'
import { SMALL_BODY } from '../../platform/json-body/body-limits.ts'
import { auditOf } from '../../identity/http/access/audit.ts'
import { getCaller } from '../../platform/http/access/caller.ts'
import { defineRoute, ok } from '../../platform/http/route.ts'
import type { JsonResponse, Route, RouteRequest, SavedResponse } from '../../platform/http/route.ts'
import { receive, type Incoming, type ReceiveDeps } from './upload.ts'
import type { TaskReadDeps } from '../deps.ts'
import type { CommitDeps } from '../../platform/http/deps.ts'

/** Dependencies of uploads: files for tasks, and archives of versions. */
export type UploadDeps = CommitDeps & TaskReadDeps & ReceiveDeps

/** Takes the archive of a version, by whose id the link names it. */
type UploadArchive = (deps: UploadDeps, archive: Incoming) => Promise<void>

/** Routes for files that are too large, or too often used, to be sent inside a body. */
export const makeUploadRoutes = (deps: UploadDeps, uploadArchive: UploadArchive): Route[] => [
  defineRoute({
    method: 'post',
    path: '/customers/storage',
    unread: 'ignored',
    tag: 'Uploads',
    summary: 'Get links to upload a file and to use it as an input',
    description:
      'Both links live 24 hours. A file the caller has uploaded already is found by its hash.',
    auth: 'required',
    body: {
      schema: NewUpload,
      ...SMALL_BODY,
      examples: { png: { file_name: 'portrait.png', content_type: 'image/png' } },
    },
    responses: ok('The links.', UploadLinks, { example: LINKS_EXAMPLE }),
    errors: ['outcome_unknown'],
    secretResponse: true,
    handler: (request) => createUpload(deps, request),
  }),
  defineRoute({
    method: 'delete',
    path: '/customers/storage/:id',
    tag: 'Uploads',
    summary: 'Delete an upload',
    description:
      'Its id is the first part of the path of its links. Its links return 410 from then on.',
    auth: 'required',
    params: Type.Object({ id: Type.String({ description: 'Id of the upload.' }) }),
    responses: { 204: { description: 'It is deleted.' } },
    errors: ['upload_not_found', 'upload_in_use'],
    handler: (request) => deleteUpload(deps, request),
  }),
  defineRoute({
    method: 'put',
    path: '/uploads/:id',
    unread: 'ignored',
    tag: 'Uploads',
    summary: 'Upload the bytes of a file, or the archive of a version',
    description:
      'The signed link is the credential. A second PUT replaces the bytes of the first; the archive of a version, until its checks have decided.',
    auth: 'none',
    params: Type.Object({ id: Type.String({ description: 'Id of the upload or version.' }) }),
    query: Type.Object({
      expires: Type.String({ default: '', description: 'Unix seconds at which the link ends.' }),
      max: Type.String({ default: '', description: 'Most bytes.' }),
      signature: Type.String({ default: '', description: 'HMAC-SHA256 in base64url.' }),
    }),
    requestHeaders: ['Content-Digest'],
    rawBody: { mediaType: 'application/octet-stream', description: 'The bytes, of whatever type.' },
    responses: ok('The file is stored.', Type.Object({})),
    errors: [
      'signature_invalid',
      'upload_expired',
      'body_required',
      'archive_invalid',
      'checksum_mismatch',
      'archive_exists',
      'upload_closed',
      'node_deleted',
      'node_banned',
      'publisher_banned',
      'version_blocked',
      'file_gone',
      'quota_exceeded',
      'outcome_unknown',
    ],
    handler: async (request) => {
      const { id } = request.params
      const maxBytes = Number(request.query.max)
      const purpose = verifyLink(deps, { id, ...request.query })
      const take = purpose === 'archive' ? uploadArchive : receive
      await take(deps, { id, request, maxBytes })
      return { status: 200, body: {} }
    },
  }),
]

const deleteUpload = async (
  deps: UploadDeps,
  request: RouteRequest<{ id: string }>,
): Promise<JsonResponse> => {
  const { params } = request
  const id = params.id.toLowerCase()
  const { owner } = getCaller(request)
  await unitOfWork(deps, async (sql) => {
    const obstacle = isUuid(id) ? await lockUpload(sql, { id, owner }) : 'not_found'
    if (obstacle === 'not_found')
      throw apiError(
        'upload_not_found',
        `There is no upload ${shown(params.id)} among those of the caller, or it is deleted.`,
      )
    if (obstacle === 'in_use') throw apiError('upload_in_use')
    // A task that takes the file waits for the lock, and does not find it afterwards.
    await expireUpload(sql, id)
    const [target, before] = [auditTarget.user(owner), { upload: id }]
    await insertAudit(sql, auditOf(request), { action: 'upload.delete', target, before })
  })
  // What cannot be removed now is the hourly purge's.
  await purgeUpload(deps, id).catch(() => {})
  return { status: 204 }
}

/** Finds what a link is for, by its signature. Throws signature_invalid or upload_expired. */
const verifyLink = (
  { signer, now }: Pick<UploadDeps, 'signer' | 'now'>,
  claim: UploadClaim,
): 'archive' | 'file' => {
  const forArchive = signer.verifyArchive(claim, now())
  const verdict =
    forArchive === 'signature_invalid' ? signer.verifyUpload(claim, now()) : forArchive
  if (verdict === 'upload_expired')
    throw errors.uploadExpired(forArchive === 'upload_expired' ? 'archive' : 'file')
  if (verdict !== 'ok') throw apiError(verdict)
  return forArchive === 'ok' ? 'archive' : 'file'
}

const LINKS_EXAMPLE = {
  upload_url:
    'https://kiln.example.com/uploads/0b8e7f1c-4a43-4b52-9f6e-0a1f4e5d6c7b?expires=1767225600&max=536870912&signature=q1',
  download_url:
    'https://kiln.example.com/files/0b8e7f1c-4a43-4b52-9f6e-0a1f4e5d6c7b/portrait.png?expires=1767225600&signature=q2',
  expires_at: '2026-01-01T00:00:00.000Z',
  existing_file: false,
}

const createUpload = async (
  deps: CommitDeps & TaskReadDeps,
  request: RouteRequest<unknown, unknown, NewUpload>,
): Promise<SavedResponse> => {
  const { owner, keyId: apiKeyId = null } = getCaller(request)
  const { file_name: fileName, content_type: declaredType = null, file_hash } = request.body
  const id = randomUUID()
  const sha256 = file_hash?.toLowerCase()
  return await unitOfWork(
    deps,
    async (sql) => {
      const maker = { owner, apiKeyId }
      const existing =
        sha256 === undefined ? undefined : await renewUpload(sql, { ...maker, sha256 })
      const upload = existing ?? (await insertUpload(sql, { ...maker, id, fileName, declaredType }))
      const response = makeResponse(deps, upload, existing !== undefined)
      return await request.saveIdempotentResponse(sql, response)
    },
    { wasCommitted: () => existsUpload(deps.sql, id) },
  )
}

const makeResponse = (
  { signer, now }: Pick<UploadDeps, 'signer' | 'now'>,
  { id, file_name, expires_at }: Upload,
  existing: boolean,
): JsonResponse => ({
  status: 200,
  body: {
    upload_url: signer.signUpload({
      id,
      expires: Math.floor(expires_at.getTime() / 1000),
      max: UPLOAD_MAX_BYTES,
    }),
    download_url: signer.signFile(id, file_name, now()),
    expires_at: expires_at.toISOString(),
    existing_file: existing,
  } satisfies UploadLinks,
})
