import type { paths } from '../generated/openapi.ts'
import type { UploadSource } from './bytes.ts'
import type { CreateOptions } from './create.ts'
import { responseOf } from './http.ts'
import type { Http } from './http.ts'
import { withRetries } from './retry.ts'
import type { ReadOf } from './task.ts'
import type { ReadOptions } from './tasks.ts'
import { upload } from './upload.ts'

type LineOf<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/jsonl': infer Line } } } }
}
  ? Line
  : never

/** A batch with its requests counted by the state of their tasks. */
export type Batch = ReadOf<'/batches/{id}'>
/** A request of a batch with its task. */
export type BatchLine = LineOf<'/batches/{id}/results'>
/** An operation with its tasks counted by what was done. */
export type Operation = ReadOf<'/operations/{id}'>
/** A task of an operation with what was done. */
export type OperationLine = LineOf<'/operations/{id}/results'>

/** A request of a batch: a path on which tasks are made, and the body that goes there. */
export interface BatchRequest {
  path: string
  body: Record<string, unknown>
}

type OperationBody = NonNullable<
  paths['/operations']['post']['requestBody']
>['content']['application/json']
export type NewOperation = Omit<OperationBody, 'dry_run'>

export interface BatchOptions extends CreateOptions {
  /** Each task gets them beside its own. */
  labels?: Record<string, string> | undefined
  /** Notified when the last task has ended. */
  webhookUrl?: string | undefined
}

export const makeBatches = (http: Http) => ({
  /** Makes a batch of at most 1,000 requests, or of a file with one a line; returns its id. */
  create: async (
    requests: readonly BatchRequest[] | UploadSource,
    { labels, webhookUrl, idempotencyKey, signal }: BatchOptions = {},
  ): Promise<string> => {
    const given = Array.isArray(requests)
      ? { requests: requests as BatchRequest[] }
      : {
          file: await upload(http, requests as UploadSource, { fileName: 'batch.jsonl', signal }),
        }
    const body = {
      ...given,
      ...(labels && { labels }),
      ...(webhookUrl !== undefined && { webhook_url: webhookUrl }),
    }
    const headers = keyOf(idempotencyKey)
    const asked = http.routes.POST('/batches', { body, headers, signal: signal ?? null })
    return (await responseOf(asked)).batch_id
  },
  read: (id: string, { signal }: ReadOptions = {}): Promise<Batch> =>
    responseOf(http.routes.GET('/batches/{id}', of(id, signal))),
  /** Ends what has not ended. */
  cancel: (id: string, { signal }: ReadOptions = {}): Promise<Batch> =>
    responseOf(http.routes.POST('/batches/{id}/cancel', of(id, signal))),
  /** Reads what has become of each request, in their order. */
  results: (id: string, options: ReadOptions = {}): AsyncGenerator<BatchLine> =>
    readLines<BatchLine>(http, `/batches/${encodeURIComponent(id)}/results`, options),
})

export const makeOperations = (http: Http) => ({
  /** Begins to act on all tasks that a filter finds now; returns its id. */
  create: async (
    body: NewOperation,
    { idempotencyKey, signal }: CreateOptions = {},
  ): Promise<string> => {
    const init = { body, headers: keyOf(idempotencyKey), signal: signal ?? null }
    const made = await responseOf(http.routes.POST('/operations', init))
    return 'operation_id' in made ? made.operation_id : ''
  },
  /** Counts the tasks that it would act on. */
  count: async (body: NewOperation, { signal }: ReadOptions = {}): Promise<number> => {
    const init = { body: { ...body, dry_run: true }, signal: signal ?? null }
    const counted = await responseOf(http.routes.POST('/operations', init))
    return 'matched' in counted ? counted.matched : 0
  },
  read: (id: string, { signal }: ReadOptions = {}): Promise<Operation> =>
    responseOf(http.routes.GET('/operations/{id}', of(id, signal))),
  /** Stops it; its counts are exact from then on. */
  cancel: (id: string, { signal }: ReadOptions = {}): Promise<Operation> =>
    responseOf(http.routes.POST('/operations/{id}/cancel', of(id, signal))),
  /** Reads what was done with each task. */
  results: (id: string, options: ReadOptions = {}): AsyncGenerator<OperationLine> =>
    readLines<OperationLine>(http, `/operations/${encodeURIComponent(id)}/results`, options),
})

const of = (id: string, signal: AbortSignal | undefined) => ({
  params: { path: { id } },
  signal: signal ?? null,
})

const keyOf = (key: string | undefined): Record<string, string> =>
  key === undefined ? {} : { 'Idempotency-Key': key }

async function* readLines<Line>(
  http: Http,
  path: string,
  { signal }: ReadOptions,
): AsyncGenerator<Line> {
  const response = await withRetries(http.retry, signal, () =>
    http.send(path, { signal: signal ?? null }),
  )
  const decoder = new TextDecoder()
  const reader = response.body?.getReader()
  let rest = ''
  for (;;) {
    const { done = true, value } = (await reader?.read()) ?? {}
    const lines = (rest + decoder.decode(value, { stream: !done })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield JSON.parse(line) as Line
    if (done) return
  }
}
