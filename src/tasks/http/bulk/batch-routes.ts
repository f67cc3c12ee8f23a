import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'

import { Type } from 'typebox'

import { readBatchCounts, showBatch, type BatchRow, type BatchSource } from '../../db/bulk/batch.ts'
import { findBulk } from '../../db/bulk/bulk.ts'
import { withinDeadline, type Queryable } from '../../../platform/db/client.ts'
import {
  Batch,
  BatchLine,
  BatchPage,
  MadeBatch,
  NewBatch,
  NewBatchDocument,
  requestsKey,
  requestsFolder,
} from '../../domain/bulk/batch.ts'
import { BulkQuery } from '../../domain/bulk/bulk.ts'
import { SMALL_BODY } from '../../../platform/json-body/body-limits.ts'
import { defineRoute, ok } from '../../../platform/http/route.ts'
import type { Route, RouteRequest, SavedResponse } from '../../../platform/http/route.ts'
import { validatePageToken } from '../task/page-token.ts'
import { cancelBulk, getBulk, listOwn, createBulk, type BulkDeps } from './bulk.ts'
import { LINES_TYPE, makeBatchLine, respondWithLines } from './results.ts'
import { findFile } from '../../db/file.ts'
import { isOutcomeUnknown } from '../../../platform/db/unit-of-work.ts'
import { errors, shown } from '../../../platform/domain/errors.ts'
import { UPLOAD_MAX_BYTES } from '../../../platform/domain/upload.ts'
import { makeIssue, type Issue } from '../../../platform/domain/validate.ts'
import { getCaller } from '../../../platform/http/access/caller.ts'
import { validationError } from '../../../platform/domain/validation-error.ts'
import { validateUrl } from '../../inputs.ts'

const COMMON = { tag: 'Batches', auth: 'required' } as const
const ID = '7d0f4a52-8c1b-4d8e-9a3f-2b6c5e7d9f10'
const OfBatch = Type.Object({
  id: Type.String({ format: 'uuid', description: 'Id of the batch.' }),
})

/** A thousand requests with a small image each. */
const BODY = { maxBytes: 2 ** 24, memoryBytes: 2 ** 24, deadlineMs: 120_000 }

/** Batches: many requests in one, made one after another. */
export const makeBatchRoutes = (deps: BulkDeps): Route[] => [
  defineRoute({
    ...COMMON,
    method: 'post',
    path: '/batches',
    quota: 'create',
    summary: 'Make many tasks with one request',
    description:
      'Each request is taken as if it had come alone, one after another, for as long as the quotas of the caller last; then the batch waits. A tenth of the quota of open tasks stays free for other requests.',
    body: {
      ...BODY,
      schema: NewBatch,
      document: NewBatchDocument,
      examples: {
        requests: {
          requests: [
            {
              path: '/proxy/imgvendor/v1/ai/image-relight',
              body: { image: 'https://example.com/portrait.png', prompt: 'sunset' },
            },
          ],
        },
      },
    },
    responses: {
      202: {
        description: 'The batch is durable; it runs afterwards.',
        schema: MadeBatch,
        example: { batch_id: ID },
        links: {
          read: {
            method: 'get',
            path: '/batches/:id',
            parameters: { id: '$response.body#/batch_id' },
          },
        },
      },
    },
    errors: ['incompatible_fields', 'url_refused', 'quota_exceeded', 'outcome_unknown'],
    validate: makeValidateBatch(deps),
    handler: (request) => createBatch(deps, request),
  }),
  defineRoute({
    ...COMMON,
    method: 'get',
    path: '/batches',
    summary: "List the caller's batches, newest first",
    query: BulkQuery,
    responses: ok('The page.', BatchPage),
    errors: [],
    read: 'private',
    validateQuery: ({ query }) => validatePageToken(query['after'], '?after', 'next'),
    handler: (request) =>
      listOwn<BatchSource>(deps, request, {
        kind: 'batch',
        name: 'batches',
        show: (row) => showBatch(row as BatchRow),
      }),
  }),
  defineRoute({
    ...COMMON,
    method: 'get',
    path: '/batches/:id',
    summary: 'Count the requests of a batch by the state of their tasks',
    params: OfBatch,
    responses: ok('The batch.', Batch),
    errors: ['bulk_not_found'],
    read: 'private',
    handler: async (request) => {
      const batch = await getBulk<BatchRow>(deps, request, 'batch')
      return { status: 200, body: await withinDeadline(deps.sql, withCounts(deps.sql, batch)) }
    },
  }),
  defineRoute({
    ...COMMON,
    method: 'get',
    path: '/batches/:id/results',
    summary: 'Read what has become of each request of a batch',
    description: 'A line of JSON for each, in their order. Links are signed at the call.',
    params: OfBatch,
    responses: ok('A request a line.', BatchLine, { mediaType: LINES_TYPE }),
    errors: ['bulk_not_found'],
    handler: async (request) => {
      const batch = await getBulk<BatchRow>(deps, request, 'batch')
      const line = makeBatchLine(batch.endedAt ? 'cancelled' : 'pending')
      return respondWithLines(deps, batch, line)
    },
  }),
  defineRoute({
    ...COMMON,
    method: 'post',
    path: '/batches/:id/cancel',
    summary: 'Cancel a batch: what has not ended of it ends',
    description:
      'No further task is made, from the response on; those that can be are cancelled. It ends when the last video that is being rendered has.',
    params: OfBatch,
    body: { ...SMALL_BODY, schema: Type.Object({}), required: false, examples: { nothing: {} } },
    responses: ok('The batch as it is now.', Batch),
    errors: ['bulk_not_found', 'cannot_cancel', 'outcome_unknown'],
    handler: (request) => {
      const { id } = request.params
      return cancelBulk(deps, request, {
        kind: 'batch',
        show: async (sql) => withCounts(sql, (await findBulk(sql, { id })) as BatchRow),
      })
    },
  }),
]

const withCounts = async (sql: Queryable, batch: BatchRow): Promise<Batch> => ({
  ...showBatch(batch),
  ...(await readBatchCounts(sql, batch)),
})

/** Makes the rules of a batch that its schema cannot say. Its requests are validated in their turn. */
const makeValidateBatch =
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
const createBatch = async (
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
