import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'

import { withinDeadline } from '../../../platform/db/client.ts'
import type { BatchSource } from '../../db/bulk/batch.ts'
import { findFile } from '../../db/file.ts'
import { isOutcomeUnknown } from '../../../platform/db/unit-of-work.ts'
import { requestsKey, requestsFolder, type NewBatch } from '../../domain/bulk/batch.ts'
import { errors, shown } from '../../../platform/domain/errors.ts'
import { UPLOAD_MAX_BYTES } from '../../../platform/domain/upload.ts'
import { makeIssue, type Issue } from '../../../platform/domain/validate.ts'
import { getCaller } from '../../../platform/http/access/caller.ts'
import type { Route, RouteRequest, SavedResponse } from '../../../platform/http/route.ts'
import { validationError } from '../../../platform/domain/validation-error.ts'
import { validateUrl } from '../../inputs.ts'
import { createBulk, type BulkDeps } from './bulk.ts'

/** Makes the rules of a batch that its schema cannot say. Its requests are validated in their turn. */
export const makeValidateBatch =
  (deps: BulkDeps): NonNullable<Route['validate']> =>
  ({ body: { requests, file, webhook_url: url } }): Issue[] => [
    ...(requests === undefined && file === undefined
      ? [makeIssue('/requests', 'must be a list of requests, unless /file is given')]
      : []),
    ...(requests !== undefined && file !== undefined
      ? [makeIssue('/file', 'must be absent when /requests is given', 'incompatible_fields')]
      : []),
    ...validateUrl(deps, '/webhook_url', url),
  ]

/** Takes a batch: its requests go into the store, and from there one after another to the routes that they name. */
export const createBatch = async (
  deps: BulkDeps,
  request: RouteRequest<unknown, unknown, NewBatch>,
): Promise<SavedResponse> => {
  const { requests, file, labels, webhook_url: url } = request.body
  const { owner } = getCaller(request)
  const id = randomUUID()
  const source: BatchSource = {
    ...(file !== undefined && { file: await findUpload(deps, file) }),
    ...(labels && { labels }),
  }
  if (requests) await storeRequests(deps, id, requests)
  const bulk = {
    id,
    kind: 'batch',
    owner,
    request: source,
    webhookUrl: url?.trim() ?? null,
    ...(requests && { total: requests.length }),
  } as const
  try {
    return await createBulk(deps, request, { bulk, body: { batch_id: id } })
  } catch (error) {
    if (!isOutcomeUnknown(error))
      await deps.storage.removePrefix(requestsFolder(id)).catch(() => {})
    throw error
  }
}

/** Writes the requests as a file would have them. */
const storeRequests = async (
  { storage }: BulkDeps,
  id: string,
  requests: readonly unknown[],
): Promise<void> => {
  const lines = requests.map((request) => `${JSON.stringify(request)}\n`)
  await storage
    .putStream(requestsKey(id), Readable.from(lines), { maxBytes: UPLOAD_MAX_BYTES })
    .catch((error: unknown) => {
      throw errors.unavailable(error)
    })
}

/** Finds the file that a link of an upload names. Throws 400. */
const findUpload = async ({ sql, signer, now }: BulkDeps, link: string): Promise<string> => {
  const own = signer.parseOwnLink(link.trim(), now())
  const file = typeof own === 'object' ? await withinDeadline(sql, findFile(sql, own)) : undefined
  if (file && !file.gone && file.storage_key !== null) return file.storage_key
  const sentence = `must be the download_url of an upload that has arrived, got ${shown(link.replace(/\?.*$/s, '?…'))}`
  const issues = [makeIssue('/file', sentence, 'url_refused')]
  throw validationError(issues, { query: {}, body: { file: link } }) ?? errors.unavailable()
}
