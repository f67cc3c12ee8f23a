import type { paths } from '../generated/openapi.ts'
import { ArgumentError, toSegment } from './argument.ts'
import { isFileBytes, requireLines, requireSource, type UploadSource } from './bytes.ts'
import type { CreateOptions } from './create.ts'
import { follow } from './follow.ts'
import type { FollowOptions } from './follow.ts'
import { responseOf, toInit, toKeyHeader } from './http.ts'
import type { Http } from './http.ts'
import { after, readPages } from './pages.ts'
import type { ListOf } from './pages.ts'
import { readReplay } from './replay.ts'
import type { Replay } from './replay.ts'
import { KilnError } from './errors.ts'
import { pauseOrThrow, sendOnce } from './retry.ts'
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
  /** A name for it, which its line of the results has. */
  custom_id?: string
  /** One task, whichever batch or request with this key makes it, for 24 hours. */
  idempotency_key?: string
}

type OperationBody = NonNullable<
  paths['/operations']['post']['requestBody']
>['content']['application/json']
/** `all` says that an empty filter is meant, which finds all tasks. */
export type NewOperation = Omit<OperationBody, 'dry_run' | 'all'> & { all?: boolean }

export interface BulkOptions extends CreateOptions {
  /** Called when an earlier request with the same key has made it, before its id is returned. */
  onReplayed?: ((replay: Replay) => void) | undefined
}

export interface BatchOptions extends BulkOptions {
  /** Each task gets them beside its own. */
  labels?: Record<string, string> | undefined
  /** Notified when the last task has ended. */
  webhookUrl?: string | undefined
}

export interface BulkWaitOptions<Bulk> extends FollowOptions {
  /** Called with each change of its counts. */
  onProgress?: ((bulk: Bulk) => void) | undefined
}

export const makeBatches = (http: Http) => ({
  /** Makes a batch of at most 1,000 requests, or of a file with one a line; returns its id. */
  create: async (
    requests: readonly BatchRequest[] | UploadSource,
    { labels, webhookUrl, ...options }: BatchOptions = {},
  ): Promise<string> => {
    const { signal } = options
    const headers = toKeyHeader(options.idempotencyKey)
    if (!Array.isArray(requests)) requireSource('requests', requests)
    if (isFileBytes(requests)) await requireLines(requests)
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
    const asked = http.routes.POST('/batches', { body, headers, signal: signal ?? null })
    const { batch_id: id } = await responseOf(asked)
    const replay = await readReplay(http, asked, `/batches/${id}`, options)
    if (replay) options.onReplayed?.(replay)
    return id
  },
  /** Lists the caller's batches, the newest first, without their counts. */
  list: ({ limit }: ListOf<'/batches'> = {}, options: ReadOptions = {}) =>
    readPages(limit, async (asked) => {
      const init = toInit(options, { query: after(asked) })
      const { batches, next } = await responseOf(http.routes.GET('/batches', init))
      return { items: batches, next }
    }),
  read: (id: string, options: ReadOptions = {}): Promise<Batch> =>
    responseOf(http.routes.GET('/batches/{id}', toInit(options, { path: { id } }))),
  /** Waits until its last task has ended, and returns it. */
  wait: (id: string, options: BulkWaitOptions<Batch> = {}): Promise<Batch> =>
    waitForEnd(http, `/batches/${toSegment(id)}`, options),
  /** Ends what has not ended. */
  cancel: (id: string, options: ReadOptions = {}): Promise<Batch> =>
    responseOf(http.routes.POST('/batches/{id}/cancel', toInit(options, { path: { id } }))),
  /** Reads what has become of each request, in their order. */
  results: (id: string, options: ReadOptions = {}): AsyncGenerator<BatchLine> =>
    readLines<BatchLine>(http, `/batches/${toSegment(id)}/results`, options),
})

export const makeOperations = (http: Http) => ({
  /** Begins to act on all tasks that a filter finds now; returns its id. */
  create: async (body: NewOperation, options: BulkOptions = {}): Promise<string> => {
    const headers = toKeyHeader(options.idempotencyKey)
    const init = { body: requireFilter(body), headers, signal: options.signal ?? null }
    const asked = http.routes.POST('/operations', init)
    const made = await responseOf(asked)
    const id = 'operation_id' in made ? made.operation_id : ''
    const replay = await readReplay(http, asked, `/operations/${id}`, options)
    if (replay) options.onReplayed?.(replay)
    return id
  },
  /** Counts the tasks that it would act on. */
  count: async (body: NewOperation, { signal }: ReadOptions = {}): Promise<number> => {
    const init = { body: { ...requireFilter(body), dry_run: true }, signal: signal ?? null }
    const counted = await responseOf(http.routes.POST('/operations', init))
    return 'matched' in counted ? counted.matched : 0
  },
  /** Lists the caller's operations, the newest first, without their counts. */
  list: ({ limit }: ListOf<'/operations'> = {}, options: ReadOptions = {}) =>
    readPages(limit, async (asked) => {
      const init = toInit(options, { query: after(asked) })
      const { operations, next } = await responseOf(http.routes.GET('/operations', init))
      return { items: operations, next }
    }),
  read: (id: string, options: ReadOptions = {}): Promise<Operation> =>
    responseOf(http.routes.GET('/operations/{id}', toInit(options, { path: { id } }))),
  /** Waits until it has acted on its last task, and returns it. */
  wait: (id: string, options: BulkWaitOptions<Operation> = {}): Promise<Operation> =>
    waitForEnd(http, `/operations/${toSegment(id)}`, options),
  /** Stops it; its counts are exact from then on. */
  cancel: (id: string, options: ReadOptions = {}): Promise<Operation> =>
    responseOf(http.routes.POST('/operations/{id}/cancel', toInit(options, { path: { id } }))),
  /** Reads what was done with each task. */
  results: (id: string, options: ReadOptions = {}): AsyncGenerator<OperationLine> =>
    readLines<OperationLine>(http, `/operations/${toSegment(id)}/results`, options),
})

const ENDS: ReadonlySet<string> = new Set(['done', 'cancelled', 'failed'])

/** Reads one until it has ended: neither has a stream. */
const waitForEnd = <Bulk extends Batch | Operation>(
  http: Http,
  path: string,
  { onProgress, ...options }: BulkWaitOptions<Bulk>,
): Promise<Bulk> =>
  follow<Bulk>(
    http,
    {
      findStatusPath: () => Promise.resolve(path),
      readEnd: ({ data }) => (ENDS.has((data as Bulk).state) ? (data as Bulk) : undefined),
      onEvent: ({ data }) => onProgress?.(data as Bulk),
    },
    options,
  )

/** Throws at an empty filter, where a member may have been forgotten, unless all tasks are meant. */
const requireFilter = (body: NewOperation): NewOperation => {
  const isEmpty = Object.values(body.filter).every((value) => (value ?? '') === '')
  if (isEmpty === (body.all === true)) return body
  throw new ArgumentError(
    isEmpty
      ? 'filter must not be empty, unless `all` beside it says that all tasks are meant'
      : 'all must be absent beside a filter that is not empty',
  )
}

/** Reads lines of JSON as they come; after a break again, from the line where it was. */
async function* readLines<Line>(
  http: Http,
  path: string,
  { signal }: ReadOptions,
): AsyncGenerator<Line> {
  for (let [seen, failures] = [0, 0]; ;)
    try {
      let number = 0
      for await (const line of readLinesOnce(http, path, signal)) {
        number += 1
        if (number <= seen) continue
        ;[seen, failures] = [number, 0]
        yield JSON.parse(line) as Line
      }
      return
    } catch (error) {
      signal?.throwIfAborted()
      if (!(error instanceof KilnError)) throw error
      failures += 1
      await pauseOrThrow(http.retry, failures, error, signal)
    }
}

async function* readLinesOnce(
  http: Http,
  path: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<string> {
  const response = await sendOnce(() => http.send(path, { signal: signal ?? null }), signal)
  if (response instanceof KilnError) throw response
  const decoder = new TextDecoder()
  const reader = response.body?.getReader()
  let rest = ''
  try {
    for (;;) {
      const { done = true, value } = (await reader?.read().catch(throwBroken)) ?? {}
      const lines = (rest + decoder.decode(value, { stream: !done })).split('\n')
      rest = lines.pop() ?? ''
      yield* lines
      if (done && rest !== '') throwBroken()
      if (done) return
    }
  } finally {
    // Whoever stops before the end leaves the connection to nobody else.
    await reader?.cancel().catch(() => {})
  }
}

const throwBroken = (cause?: unknown): never => {
  throw new KilnError({ code: 'unreachable', message: 'the lines broke off', cause })
}
